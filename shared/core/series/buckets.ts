import type { Buckets, Series } from './series.ts'

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
