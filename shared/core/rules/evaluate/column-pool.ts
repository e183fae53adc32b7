/**
 * Memory for columns, used over and over. A run needs a thousand of them and drops them all with each equipment: made anew
 * every time, they cost more than what is reckoned in them.
 */

/** Rows of the longest day that is read by the minute. */
export const DAY_ROWS = 1500
/** What is kept for the next equipment, in numbers: 48 MB. */
const KEPT_MAX = 6_000_000

const kept = new Map<number, Float64Array[]>()
let size = 0

/** @returns [length] with anything in it */
export function takeColumn(length: number): Float64Array {
  const column = kept.get(length)?.pop()
  if (!column) return new Float64Array(length)
  size -= length
  return column
}

/** @param column that nobody reads any more */
export function giveColumnBack(column: Float64Array): void {
  if (column.length === 0 || size + column.length > KEPT_MAX) return
  const alike = kept.get(column.length)
  if (alike) alike.push(column)
  else kept.set(column.length, [column])
  size += column.length
}

/** Constants of which a column is kept, each 12 KB. */
const CONSTANTS_MAX = 500

const constants = new Map<number, Float64Array>()

/** @returns [`length` at least] of one value; for reading only */
export function constantColumn(value: number, length: number): Float64Array {
  const known = constants.get(value)
  if (known && known.length >= length) return known
  if (constants.size >= CONSTANTS_MAX) constants.clear()
  const column = new Float64Array(Math.max(DAY_ROWS, Math.ceil(length * 1.25))).fill(value)
  constants.set(value, column)
  return column
}
