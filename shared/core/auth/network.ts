/** The network that a client's address stands for when failures are counted. */

const GROUPS = 8
/** A provider gives each customer at least one /64, so addresses within it are one customer. */
const PREFIX_GROUPS = 4

/**
 * @param address as a socket or a trusted proxy gives it
 * @returns an IPv4 address whole, also when it is mapped into IPv6; of any other IPv6 address its /64, such as
 *   `2001:db8:0:1::/64`. What is no address is the network `unknown`.
 */
export function networkOf(address: string | undefined): string {
  const [bare = ''] = withoutPort((address ?? '').trim().toLowerCase()).split('%')
  const v4 = readIPv4(bare)
  if (v4) return v4.join('.')
  const groups = readIPv6(bare)
  if (!groups) return 'unknown'
  const [a, b, c, d, e, f, high, low] = groups as [number, number, number, number, number, number, number, number]
  // RFC 4291 2.5.5.2
  if (a === 0 && b === 0 && c === 0 && d === 0 && e === 0 && f === 0xffff) {
    return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
  }
  if (groups.slice(0, 7).every(group => group === 0) && low === 1) return '::1'
  const prefix = groups.slice(0, PREFIX_GROUPS).map(group => group.toString(16))
  return `${prefix.join(':')}::/64`
}

/** Some proxies add the client's port. */
const withoutPort = (text: string): string =>
  text.replace(/^(\d+(?:\.\d+){3}):\d+$/, '$1').replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')

function readIPv4(text: string): number[] | undefined {
  if (!/^\d{1,3}(\.\d{1,3}){3}$/.test(text)) return undefined
  const bytes = text.split('.').map(Number)
  return bytes.every(byte => byte <= 255) ? bytes : undefined
}

/** @returns eight groups of 16 bits, RFC 4291 2.2 */
function readIPv6(text: string): number[] | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map((half, i) => readGroups(half, i === halves.length - 1))
  if (!head || (halves.length === 2 && !tail)) return undefined
  const missing = GROUPS - head.length - (tail?.length ?? 0)
  if (tail === undefined) return missing === 0 ? head : undefined
  return missing >= 1 ? [...head, ...Array<number>(missing).fill(0), ...tail] : undefined
}

/** @param isLast whether an IPv4 address may stand at the end, RFC 4291 2.2 (3) */
function readGroups(text: string, isLast: boolean): number[] | undefined {
  if (text === '') return []
  const groups: number[] = []
  const parts = text.split(':')
  for (const [i, part] of parts.entries()) {
    const v4 = isLast && i === parts.length - 1 ? readIPv4(part) : undefined
    if (v4) groups.push(v4[0]! * 256 + v4[1]!, v4[2]! * 256 + v4[3]!)
    else if (/^[0-9a-f]{1,4}$/.test(part)) groups.push(Number.parseInt(part, 16))
    else return undefined
  }
  return groups.length <= GROUPS ? groups : undefined
}
