/** One point's history: two columns of equal length. */
export type Series = {
  /** [n] instants, ms since 1970 UTC, strictly ascending. */
  ts: Float64Array
  /** [n] values; NaN where the point answered without a usable value. */
  values: Float64Array
}

export const EMPTY_SERIES: Series = { ts: new Float64Array(0), values: new Float64Array(0) }

/** For a plot: what `[from + i × step, from + (i+1) × step)` held. NaN in a bucket without samples. */
export type Buckets = {
  from: number
  step: number
  min: Float64Array
  max: Float64Array
  mean: Float64Array
  last: Float64Array
  count: Float64Array
}
