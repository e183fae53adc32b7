import { isBits, type Place } from './point.ts'

/** Most that one request may ask for (Modbus Application Protocol V1.1b3, 6.1 to 6.4). */
export const BITS_MAX = 2000
export const REGISTERS_MAX = 125

export type Block<P> = Place & { items: P[] }

export type Limits = {
  /** Registers or bits that nobody asked for and that are read along rather than asked round. */
  gap: { registers: number; bits: number }
  registersMax: number
}

/** @returns the fewest reads that cover every item, by table and ascending; an item is never cut in two */
export function planBlocks<P>(items: readonly P[], placeOf: (item: P) => Place, limits: Limits): Block<P>[] {
  const blocks: Block<P>[] = []
  for (const item of items.toSorted((a, b) => compare(placeOf(a), placeOf(b)))) {
    const place = placeOf(item)
    const last = blocks.at(-1)
    if (last && last.table === place.table && joins(last, place, limits)) {
      last.count = Math.max(last.count, place.address + place.count - last.address)
      last.items.push(item)
    } else {
      blocks.push({ ...pick(place), items: [item] })
    }
  }
  return blocks
}

/** Two reads for one that the device declined; the items keep their order. */
export function halveBlock<P>(block: Block<P>, placeOf: (item: P) => Place): Block<P>[] {
  const middle = Math.ceil(block.items.length / 2)
  return [block.items.slice(0, middle), block.items.slice(middle)].map(items => {
    const places = items.map(placeOf)
    const address = places[0]!.address
    const end = Math.max(...places.map(place => place.address + place.count))
    return { table: block.table, address, count: end - address, items }
  })
}

/** Whether a block reads anything that none of its items asked for. */
export function hasGap<P>({ address, items }: Block<P>, placeOf: (item: P) => Place): boolean {
  let end = address
  for (const place of items.map(placeOf)) {
    if (place.address > end) return true
    end = Math.max(end, place.address + place.count)
  }
  return false
}

const pick = ({ table, address, count }: Place): Place => ({ table, address, count })
const compare = (a: Place, b: Place): number => (a.table < b.table ? -1 : a.table > b.table ? 1 : a.address - b.address)

function joins(block: Place, place: Place, { gap, registersMax }: Limits): boolean {
  const bits = isBits(block.table)
  const end = Math.max(block.address + block.count, place.address + place.count)
  const isNear = place.address <= block.address + block.count + (bits ? gap.bits : gap.registers)
  return isNear && end - block.address <= (bits ? BITS_MAX : registersMax)
}
