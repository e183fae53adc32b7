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

/** A stretch of one value: since when, whether it began with a jump, and for how long it is doubted. */
type Stretch = { value: number; since: number; leapt: boolean; doubtMs: number }
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
  let before: Stretch | undefined
  let now: Stretch | undefined
  let last = -Infinity
  for (let i = 0; i < ts.length; i++) {
    const value = values[i]!
    const t = ts[i]!
    if (!(value >= low && value <= high)) continue
    if (!now || t - last > TELLS_MS) {
      before = undefined
      now = { value, since: t, leapt: false, doubtMs: 0 }
    } else if (value !== now.value) {
      const isZero = value === zero
      const leapt = Math.abs(value - now.value) > (isZero ? Math.min(fromZero, leap) : leap)
      const lasted = t - now.since
      const isBack = !isZero && now.leapt && before !== undefined && lasted < BACK_MS && Math.abs(value - before.value) <= leap
      const longest = isZero || lasted < BACK_MS ? DOUBT_MS : FIRST_MS
      before = now
      now = { value, since: t, leapt, doubtMs: leapt && !isBack ? longest : 0 }
    }
    last = t
    if (t - now.since >= now.doubtMs) continue
    if (believed === values) believed = values.slice()
    believed[i] = Number.NaN
  }
  return believed
}
