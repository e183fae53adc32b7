import { splitEvenly } from '../../../core/poll/isolate.ts'
import { isBits, type RegisterRange } from './point.ts'

/** Maximum of one request (Modbus Application Protocol V1.1b3, 6.1 to 6.4). */
export const BITS_MAX = 2000
export const REGISTERS_MAX = 125

export type Block<P> = RegisterRange & { items: P[] }

export type Limits = {
  /** Most unwanted registers or bits between wanted ones that are read in the same request. */
  gap: { registers: number; bits: number }
  registersMax: number
  /** Ranges that make a read fail; they are never part of a gap. */
  badRanges?: readonly RegisterRange[]
}

export const NO_GAP = { registers: 0, bits: 0 }
/** Parts of a failed block. Four keep both the failures, each of which may cost a timeout, and all requests few. */
const PARTS = 4

/** @returns a text that is equal for equal ranges */
export const rangeKey = ({ table, address, count }: RegisterRange): string => `${table}:${address}:${count}`

/** @returns the fewest reads that cover every item, by table and ascending address; no item is split */
export function planBlocks<P>(items: readonly P[], rangeOf: (item: P) => RegisterRange, limits: Limits): Block<P>[] {
  const blocks: Block<P>[] = []
  for (const item of items.toSorted((a, b) => compare(rangeOf(a), rangeOf(b)))) {
    const place = rangeOf(item)
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
 * Splits a failed block: at its gaps when it has any, otherwise into quarters. The items keep their order.
 *
 * @returns none for a block of one range
 */
export function splitBlock<P>(block: Block<P>, rangeOf: (item: P) => RegisterRange): Block<P>[] {
  if (isOneRange(block, rangeOf)) return []
  if (hasGap(block, rangeOf)) return planBlocks(block.items, rangeOf, { gap: NO_GAP, registersMax: REGISTERS_MAX })
  const places = Array.from(Map.groupBy(block.items, item => rangeKey(rangeOf(item))).values())
  return splitEvenly(places, PARTS).map(part => blockOf(part.flat(), rangeOf))
}

/** @returns whether all points of a block have the same range, so that it cannot be split */
export const isOneRange = <P>({ items, address, count }: Block<P>, rangeOf: (item: P) => RegisterRange): boolean =>
  items.every(item => rangeOf(item).address === address && rangeOf(item).count === count)

/** @param items of one table, ascending, never empty */
export function blockOf<P>(items: P[], rangeOf: (item: P) => RegisterRange): Block<P> {
  const places = items.map(rangeOf)
  const { table, address } = places[0]!
  const end = places.reduce((last, place) => Math.max(last, place.address + place.count), address)
  return { table, address, count: end - address, items }
}

/** @returns whether a block contains registers of none of its items */
export function hasGap<P>({ address, items }: Block<P>, rangeOf: (item: P) => RegisterRange): boolean {
  let end = address
  for (const place of items.map(rangeOf)) {
    if (place.address > end) return true
    end = Math.max(end, place.address + place.count)
  }
  return false
}

const pick = ({ table, address, count }: RegisterRange): RegisterRange => ({ table, address, count })
const compare = (a: RegisterRange, b: RegisterRange): number =>
  a.table < b.table ? -1 : a.table > b.table ? 1 : a.address - b.address

function joins(block: RegisterRange, place: RegisterRange, { gap, registersMax, badRanges = [] }: Limits): boolean {
  const bits = isBits(block.table)
  const end = Math.max(block.address + block.count, place.address + place.count)
  const isNear = place.address <= block.address + block.count + (bits ? gap.bits : gap.registers)
  if (!isNear || end - block.address > (bits ? BITS_MAX : registersMax)) return false
  const gapFrom = block.address + block.count
  return !badRanges.some(one => one.table === place.table && one.address < place.address && one.address + one.count > gapFrom)
}
