/** Ids made from the names of devices and points. */
const ID_MAX = 128
/** An id of two such parts with `-4194302` after the first and `.characterstring-value-4194302` after the second fits `ID_MAX`. */
const PART_MAX = 40
/** Most names have no accents to remove, and a list has ten thousands of names. */
const ASCII = /^[\x20-\x7e]*$/

/** @returns a text as a part of an id: letters, digits, dots, dashes and underscores; empty when nothing is left */
export function idPart(text: string): string {
  const plain = ASCII.test(text) ? text : text.normalize('NFKD').replaceAll(/\p{M}+/gu, '')
  return plain
    .replaceAll(/[^A-Za-z0-9._]+/g, '-')
    .slice(0, PART_MAX)
    .replaceAll(/^[-.]+|[-.]+$/g, '')
}

/**
 * @returns an id for each point of a device, made from its name. Points of the device that share a name get their address
 *   appended, so the ids do not depend on the order of the points
 */
export function pointIds(device_id: string, points: readonly { name: string; address: string }[]): string[] {
  const parts = points.map(({ name }) => idPart(name))
  const seen = Map.groupBy(parts, part => part.toLowerCase())
  const used = new Set<string>()
  return points.map(({ address }, i) => {
    const part = parts[i]!
    const place = idPart(address)
    const isShared = seen.get(part.toLowerCase())!.length > 1
    const own = part === '' ? place : isShared ? `${part}.${place}` : part
    // The name of one point may be equal to another's name with its address.
    const id = `${device_id}.${used.has(own) ? `${own}.${place}` : own}`.slice(0, ID_MAX)
    used.add(own)
    return id
  })
}
