import { splitEvenly } from '../../../core/poll/isolate.ts'
import { isBits, type RegisterRange } from './point.ts'

/** Most that one request may ask for (Modbus Application Protocol V1.1b3, 6.1 to 6.4). */
export const BITS_MAX = 2000
export const REGISTERS_MAX = 125

export type Block<P> = RegisterRange & { items: P[] }

export type Limits = {
  /** Registers or bits that nobody asked for and that are read along rather than asked round. */
  gap: { registers: number; bits: number }
  registersMax: number
  /** Places that spoil a read: they are never read along. */
  spoilers?: readonly RegisterRange[]
}

export const NO_GAP = { registers: 0, bits: 0 }
/** A failed block is read in so many parts: few failures, each of which may cost a timeout, and few requests in all. */
const PARTS = 4

/** Equal for points that share one place in the device. */
export const keyOfPlace = ({ table, address, count }: RegisterRange): string => `${table}:${address}:${count}`

/** @returns the fewest reads that cover every item, by table and ascending; an item is never cut in two */
export function planBlocks<P>(items: readonly P[], placeOf: (item: P) => RegisterRange, limits: Limits): Block<P>[] {
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

/**
 * Smaller reads for one that failed: round its gaps when it has any, else a quarter each; the items keep their order.
 *
 * @returns none for a block of one place
 */
export function splitBlock<P>(block: Block<P>, placeOf: (item: P) => RegisterRange): Block<P>[] {
  if (isOnePlace(block, placeOf)) return []
  if (hasGap(block, placeOf)) return planBlocks(block.items, placeOf, { gap: NO_GAP, registersMax: REGISTERS_MAX })
  const places = Array.from(Map.groupBy(block.items, item => keyOfPlace(placeOf(item))).values())
  return splitEvenly(places, PARTS).map(part => blockOf(part.flat(), placeOf))
}

/** Whether all points of a block share one place, so that there is nothing smaller to ask for. */
export const isOnePlace = <P>({ items, address, count }: Block<P>, placeOf: (item: P) => RegisterRange): boolean =>
  items.every(item => placeOf(item).address === address && placeOf(item).count === count)

/** @param items of one table, ascending, never empty */
export function blockOf<P>(items: P[], placeOf: (item: P) => RegisterRange): Block<P> {
  const places = items.map(placeOf)
  const { table, address } = places[0]!
  const end = places.reduce((last, place) => Math.max(last, place.address + place.count), address)
  return { table, address, count: end - address, items }
}

/** Whether a block reads anything that none of its items asked for. */
export function hasGap<P>({ address, items }: Block<P>, placeOf: (item: P) => RegisterRange): boolean {
  let end = address
  for (const place of items.map(placeOf)) {
    if (place.address > end) return true
    end = Math.max(end, place.address + place.count)
  }
  return false
}

const pick = ({ table, address, count }: RegisterRange): RegisterRange => ({ table, address, count })
const compare = (a: RegisterRange, b: RegisterRange): number =>
  a.table < b.table ? -1 : a.table > b.table ? 1 : a.address - b.address

function joins(block: RegisterRange, place: RegisterRange, { gap, registersMax, spoilers = [] }: Limits): boolean {
  const bits = isBits(block.table)
  const end = Math.max(block.address + block.count, place.address + place.count)
  const isNear = place.address <= block.address + block.count + (bits ? gap.bits : gap.registers)
  if (!isNear || end - block.address > (bits ? BITS_MAX : registersMax)) return false
  const gapFrom = block.address + block.count
  return !spoilers.some(one => one.table === place.table && one.address < place.address && one.address + one.count > gapFrom)
}
