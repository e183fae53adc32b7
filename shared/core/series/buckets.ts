import { DAY, HOUR } from '../time.ts'
import { type Buckets, EMPTY_SERIES, type Series } from './series.ts'

/** A plot of this span or more is of whole hours. An hour more at its ends is less than a pixel of it. */
const LONG_SPAN = 30 * DAY

export type BucketSpan = { from: number; to: number; maxBuckets: number }

/**
 * Widens a long span to whole hours of UTC, so that what is kept of each hour says all that the plot shows.
 *
 * @returns the span, and whether its buckets are of whole hours: those of a short one, or of many buckets, are not
 */
export function inWholeHours({ from, to, maxBuckets }: BucketSpan): BucketSpan & { isHourly: boolean } {
  if (to - from < Math.max(LONG_SPAN, maxBuckets * HOUR)) return { from, to, maxBuckets, isHourly: false }
  const start = hourOf(from)
  const end = hourOf(to - 1) + HOUR
  const step = Math.ceil((end - start) / maxBuckets / HOUR) * HOUR
  const n = Math.ceil((end - start) / step)
  return { from: start, to: start + n * step, maxBuckets: n, isHourly: true }
}

const hourOf = (t: number) => Math.floor(t / HOUR) * HOUR

/** What a series held in each hour of UTC from its first sample to its last. @param series not empty */
export function toHours(series: Series): Buckets {
  const from = hourOf(series.ts[0]!)
  const to = hourOf(series.ts.at(-1)!) + HOUR
  return toBuckets(series, from, to, (to - from) / HOUR)
}

/** @returns buckets over `[from, to)` without samples, as `toBuckets` cuts them */
export const emptyBuckets = ({ from, to, maxBuckets }: BucketSpan): Buckets => toBuckets(EMPTY_SERIES, from, to, maxBuckets)

/** Adds buckets that each lie within one bucket of `whole`, or outside of it; they come after what was added before. */
export function addBuckets(whole: Buckets, part: Buckets): void {
  for (let i = 0; i < part.count.length; i++) {
    const more = part.count[i]!
    const at = Math.floor((part.from + i * part.step - whole.from) / whole.step)
    if (more === 0 || at < 0 || at >= whole.count.length) continue
    const before = whole.count[at]!
    const all = before + more
    whole.min[at] = before ? Math.min(whole.min[at]!, part.min[i]!) : part.min[i]!
    whole.max[at] = before ? Math.max(whole.max[at]!, part.max[i]!) : part.max[i]!
    whole.mean[at] = before ? whole.mean[at]! + ((part.mean[i]! - whole.mean[at]!) * more) / all : part.mean[i]!
    whole.last[at] = part.last[i]!
    whole.count[at] = all
  }
}

/**
 * Downsamples a series for a plot; its instants ascend.
 *
 * @param maxBuckets >= 1; each bucket is a whole number of ms wide, so there may be fewer
 * @returns buckets that cover `[from, to)`; `count` counts usable values, NaN where there are none
 */
export function toBuckets({ ts, values }: Series, from: number, to: number, maxBuckets: number): Buckets {
  const step = Math.max(1, Math.ceil((to - from) / maxBuckets))
  const n = Math.max(0, Math.ceil((to - from) / step))
  const empty = () => new Float64Array(n).fill(Number.NaN)
  const [min, max, mean, last, count] = [empty(), empty(), empty(), empty(), new Float64Array(n)]
  // One bucket after the other, in locals: a year of minutes has 350 samples for each.
  for (let i = 0; i < ts.length; ) {
    const at = Math.floor((ts[i]! - from) / step)
    const end = from + (at + 1) * step
    let low = Infinity
    let high = -Infinity
    let average = 0
    let newest = Number.NaN
    let usable = 0
    do {
      const value = values[i]!
      if (!Number.isNaN(value)) {
        if (value < low) low = value
        if (value > high) high = value
        usable++
        average += (value - average) / usable
        newest = value
      }
      i++
    } while (i < ts.length && ts[i]! < end)
    if (at < 0 || at >= n || usable === 0) continue
    min[at] = low
    max[at] = high
    mean[at] = average
    last[at] = newest
    count[at] = usable
  }
  return { from, step, min, max, mean, last, count }
}
