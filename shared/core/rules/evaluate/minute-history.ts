import { DAY_ROWS, giveColumnBack, takeColumn } from './column-pool.ts'
import type { NodeState } from './node-state.ts'

const NOTHING = new Float64Array(0)

/**
 * The minutes of one column: today's, and before them as many as the longest window over it sees. They are kept once, however
 * many windows look. It is a class because it is changed in place, day by day.
 */
export class MinuteHistory {
  /** [reach + today's] */
  minutes: Float64Array = NOTHING
  /** How many minutes before today there is room for. */
  readonly reach: number
  /** How many of them are such: before the first day there was nothing, minute by minute; a day with other rows is none. */
  known = Infinity
  private today = 0
  private isMinutely = true
  private saved: Float64Array = NOTHING

  /** @param reach of the longest window that will look, minutes */
  constructor(memory: NodeState | undefined, reach: number) {
    this.reach = reach
    if (!memory) return
    this.known = memory.known as number
    this.saved = memory.minutes as Float64Array
  }

  /** A day begins. @param x [n] its values, or more of which these are the first */
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

  /** What the next day needs of this and the days before. */
  save(): NodeState {
    const known = Math.min(this.reach, this.isMinutely ? this.known + this.today : 0)
    const end = this.reach + this.today
    return { known, minutes: this.minutes.slice(end - known, end) }
  }

  release(): void {
    giveColumnBack(this.minutes)
    this.minutes = NOTHING
  }

  private begin(n: number): void {
    const { reach, saved } = this
    this.minutes = takeColumn(reach + Math.max(n, DAY_ROWS))
    this.minutes.fill(Number.NaN, 0, reach - saved.length)
    this.minutes.set(saved, reach - saved.length)
    this.saved = NOTHING
  }

  private widen(n: number): void {
    const { minutes, reach, today } = this
    this.minutes = new Float64Array(reach + Math.ceil(n * 1.25))
    this.minutes.set(minutes.subarray(today, today + reach))
    giveColumnBack(minutes)
  }
}
