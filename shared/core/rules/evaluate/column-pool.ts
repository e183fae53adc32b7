/** Longest building day that is read once a minute, rows: 25 h at the end of daylight saving time. */
export const DAY_ROWS = 1500
/** Memory that waits for the next day or equipment, in numbers: 12 MB. An air handler with ten boxes takes half of it. */
const FREE_MAX = 1_500_000
/** Constants that have a column of their own, 12 KB each. */
const CONSTANTS_MAX = 500

/**
 * Reuses the memory of columns. The rules of an equipment calculate up to some three thousand of them for each day;
 * allocating them every time costs more than the calculations in them. The templates of one process share a pool.
 */
export class ColumnPool {
  private readonly free = new Map<number, Float64Array[]>()
  private freeSize = 0
  private readonly constants = new Map<number, Float64Array>()

  /** @returns [length], with arbitrary content */
  take(length: number): Float64Array {
    const column = this.free.get(length)?.pop()
    if (!column) return new Float64Array(length)
    this.freeSize -= length
    return column
  }

  /** @param column that nothing reads any more */
  release(column: Float64Array): void {
    if (column.length === 0 || this.freeSize + column.length > FREE_MAX) return
    const alike = this.free.get(column.length)
    if (alike) alike.push(column)
    else this.free.set(column.length, [column])
    this.freeSize += column.length
  }

  /** @returns [at least `length`] filled with one value; read-only */
  constant(value: number, length: number): Float64Array {
    const known = this.constants.get(value)
    if (known && known.length >= length) return known
    if (this.constants.size >= CONSTANTS_MAX) this.constants.clear()
    const column = new Float64Array(Math.max(DAY_ROWS, Math.ceil(length * 1.25))).fill(value)
    this.constants.set(value, column)
    return column
  }
}
