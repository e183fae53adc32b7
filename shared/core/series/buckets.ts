import type { Buckets, Series } from './series.ts'

/**
 * Downsamples a series for a plot.
 *
 * @param maxBuckets >= 1; each bucket is a whole number of ms wide, so there may be fewer
 * @returns buckets that cover `[from, to)`; `count` counts usable values, NaN where there are none
 */
export function toBuckets({ ts, values }: Series, from: number, to: number, maxBuckets: number): Buckets {
  const step = Math.max(1, Math.ceil((to - from) / maxBuckets))
  const n = Math.max(0, Math.ceil((to - from) / step))
  const empty = () => new Float64Array(n).fill(Number.NaN)
  const [min, max, mean, last, count] = [empty(), empty(), empty(), empty(), new Float64Array(n)]
  for (let i = 0; i < ts.length; i++) {
    const value = values[i]!
    const at = Math.floor((ts[i]! - from) / step)
    if (at < 0 || at >= n || Number.isNaN(value)) continue
    const before = count[at]!
    min[at] = before ? Math.min(min[at]!, value) : value
    max[at] = before ? Math.max(max[at]!, value) : value
    mean[at] = before ? mean[at]! + (value - mean[at]!) / (before + 1) : value
    last[at] = value
    count[at] = before + 1
  }
  return { from, step, min, max, mean, last, count }
}
