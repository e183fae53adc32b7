/**
 * Samples of measured quantities that are not believed yet: a value jumps further than this quantity can, or to exactly zero, as
 * a lost link and a converter without input are read, and then sits still. What is measured moves; so a jump is believed as
 * soon as the next value differs a little, or when it has lasted. Judged by earlier samples alone, so that a sample has one
 * meaning whenever it is read.
 */
import { MINUTE } from '#shared/core/time.ts'

/** How far a quantity moves between two samples, in its canonical unit. */
export type Leap = {
  /** Further than this it does not move. */
  leap: number
  /** A sample of exactly zero, in the point's own unit, is doubted from this far on. */
  zero: number
}

/** For how long a jump that sits still is doubted: a restart or a lost link seldom lasts longer, and then it is a fault to show. */
const DOUBT_MS = 90 * MINUTE
/** A sample tells what the next can be for this long. */
const TELLS_MS = 90 * MINUTE
/** What leapt away less than this ago may return. */
const BACK_MS = DOUBT_MS + TELLS_MS
/** How far back the samples lie that decide whether one is believed: the stretch that it is in, and the one before. */
export const DOUBT_PAST_MS = 2 * BACK_MS

/** Of what stood still before it leapt, standing still tells nothing: only the first sample is doubted. */
const FIRST_MS = 1

/**
 * @param zero the point's zero in the canonical unit
 * @param range values beyond it are no samples of this quantity
 * @returns `values` with NaN in place of those that are doubted; the same array where there are none
 */
export function withoutDoubtful(
  ts: Float64Array,
  values: Float64Array,
  { leap, zero: fromZero }: Leap,
  zero: number,
  [low, high]: readonly [number, number],
): Float64Array {
  let believed = values
  // The stretch of one value that lasts, and the value before it; plain variables, because most values are a stretch of their own.
  let now = Number.NaN
  let before = Number.NaN
  let since = 0
  let hasLeapt = false
  let doubtMs = 0
  let last = -Infinity
  for (let i = 0; i < ts.length; i++) {
    const value = values[i]!
    const t = ts[i]!
    if (!(value >= low && value <= high)) continue
    if (t - last > TELLS_MS) {
      before = Number.NaN
      hasLeapt = false
      doubtMs = 0
      since = t
    } else if (value !== now) {
      const isZero = value === zero
      const leapt = Math.abs(value - now) > (isZero ? Math.min(fromZero, leap) : leap)
      doubtMs = 0
      if (leapt) {
        const isRecent = t - since < BACK_MS
        const isBack = !isZero && hasLeapt && isRecent && Math.abs(value - before) <= leap
        if (!isBack) doubtMs = isZero || isRecent ? DOUBT_MS : FIRST_MS
      }
      before = now
      hasLeapt = leapt
      since = t
    }
    now = value
    last = t
    if (t - since >= doubtMs) continue
    if (believed === values) believed = values.slice()
    believed[i] = Number.NaN
  }
  return believed
}
