import { type ColumnPool, DAY_ROWS } from './column-pool.ts'
import type { NodeState } from './node-state.ts'

const EMPTY = new Float64Array(0)

/**
 * The minutes of one column: those of the current day, and before them as many as the longest window over the column needs.
 * All windows over a column share them. They are changed in place, day by day.
 */
export class MinuteHistory {
  /** [reach + minutes of the current day] */
  minutes: Float64Array = EMPTY
  /** Minutes before the current day for which there is room. */
  readonly reach: number
  /**
   * How many of them are valid. Before the first day nothing was recorded, which counts as valid; a day with rows between
   * full minutes makes all earlier ones invalid.
   */
  known = Infinity
  private readonly columns: ColumnPool
  private today = 0
  private isMinutely = true
  private saved: Float64Array = EMPTY

  /** @param reach of the longest window over the column, minutes */
  constructor(state: NodeState | undefined, reach: number, columns: ColumnPool) {
    this.reach = reach
    this.columns = columns
    if (!state) return
    this.known = state.known as number
    this.saved = state.minutes as Float64Array
  }

  /**
   * Begins a day.
   *
   * @param x the day's values in its first `n` elements
   */
  add(x: Float64Array, n: number, isMinutely: boolean): void {
    const { reach, today } = this
    if (this.minutes.length === 0) this.begin(n)
    else {
      this.known = this.isMinutely ? this.known + today : 0
      if (this.minutes.length < reach + n) this.widen(n)
      else this.minutes.copyWithin(0, today, today + reach)
    }
    this.minutes.set(x.subarray(0, n), reach)
    this.today = n
    this.isMinutely = isMinutely
  }

  /** @returns the part of the current and earlier days that the next day needs */
  save(): NodeState {
    const known = Math.min(this.reach, this.isMinutely ? this.known + this.today : 0)
    const end = this.reach + this.today
    return { known, minutes: this.minutes.slice(end - known, end) }
  }

  release(): void {
    this.columns.release(this.minutes)
    this.minutes = EMPTY
  }

  private begin(n: number): void {
    const { reach, saved } = this
    this.minutes = this.columns.take(reach + Math.max(n, DAY_ROWS))
    this.minutes.fill(Number.NaN, 0, reach - saved.length)
    this.minutes.set(saved, reach - saved.length)
    this.saved = EMPTY
  }

  private widen(n: number): void {
    const { minutes, reach, today } = this
    this.minutes = this.columns.take(reach + Math.ceil(n * 1.25))
    this.minutes.set(minutes.subarray(today, today + reach))
    this.columns.release(minutes)
  }
}
