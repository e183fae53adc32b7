/** One point's history: two columns of equal length. */
export type Series = {
  /** [n] instants, ms since 1970 UTC, strictly ascending. */
  ts: Float64Array
  /** [n] values; NaN where the point answered without a usable value. */
  values: Float64Array
}

export const EMPTY_SERIES: Series = { ts: new Float64Array(0), values: new Float64Array(0) }

/** @param after later than `before` */
export function appendSeries(before: Series, after: Series): Series {
  if (before.ts.length === 0) return after
  if (after.ts.length === 0) return before
  const n = before.ts.length
  const ts = new Float64Array(n + after.ts.length)
  const values = new Float64Array(ts.length)
  ts.set(before.ts)
  ts.set(after.ts, n)
  values.set(before.values)
  values.set(after.values, n)
  return { ts, values }
}

/** Buckets of a plot: bucket i covers `[from + i × step, from + (i+1) × step)`. NaN in a bucket without samples. */
export type Buckets = {
  from: number
  step: number
  min: Float64Array
  max: Float64Array
  mean: Float64Array
  last: Float64Array
  count: Float64Array
}
