/** Descriptive statistics of plain columns of numbers. */
import { MINUTE } from '#shared/core/time.ts'

/** The median absolute deviation times this is the standard deviation, if the values are normally distributed. */
export const MAD_TO_SIGMA = 1.4826

/** Quantile of the first `n` of ascending values, interpolated between neighbours; `share` is 0..1. */
export function quantileOf(sorted: Float64Array, n: number, share: number): number {
  const place = (n - 1) * share
  const low = Math.floor(place)
  const high = Math.min(low + 1, n - 1)
  return sorted[low]! + (sorted[high]! - sorted[low]!) * (place - low)
}

/** @returns the mean of the two middle values where their number is even; NaN for none */
export const medianOf = (values: ArrayLike<number>): number =>
  quantileOf(Float64Array.from(values).toSorted(), values.length, 0.5)

/** @returns the upper of the two middle values where their number is even, so always one of the values; undefined for none */
export const upperMedianOf = (values: ArrayLike<number>): number | undefined =>
  Float64Array.from(values).toSorted()[values.length >> 1]

/** Assumed interval of a point with fewer than two samples. */
const NOMINAL_MS = 5 * MINUTE
/** Number of gaps from which the usual interval is derived. */
const GAPS_MAX = 2001

/** The usual interval between samples, ms, from gaps spread evenly over the series. */
export function medianGap(ts: Float64Array): number {
  const gaps = ts.length - 1
  const count = Math.min(gaps, GAPS_MAX)
  const sample = Float64Array.from({ length: Math.max(0, count) }, (_, i) => {
    const at = Math.floor((i * gaps) / count)
    return ts[at + 1]! - ts[at]!
  })
  return upperMedianOf(sample) ?? NOMINAL_MS
}

/** y = intercept + slope × x, by least squares, and the share of the variance of y that it explains. */
export type FittedLine = { slope: number; intercept: number; r2: number }

/** @returns null for fewer than two points, or when all have the same x; `r2` is 1 when all have the same y */
export function fitLine(points: readonly (readonly [x: number, y: number])[]): FittedLine | null {
  const n = points.length
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / n
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / n
  let [xx, xy, yy] = [0, 0, 0]
  for (const [x, y] of points) {
    xx += (x - meanX) ** 2
    xy += (x - meanX) * (y - meanY)
    yy += (y - meanY) ** 2
  }
  if (n < 2 || xx <= n * 1e-18) return null
  const slope = xy / xx
  return { slope, intercept: meanY - slope * meanX, r2: yy === 0 ? 1 : xy ** 2 / (xx * yy) }
}
