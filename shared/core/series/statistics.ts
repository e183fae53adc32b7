/** Descriptive statistics of plain columns of numbers. */
import { HOUR, MINUTE } from '#shared/core/time.ts'

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
export const medianGap = (ts: Float64Array): number => upperMedianOf(gapsOf(ts)) ?? NOMINAL_MS

function gapsOf(ts: Float64Array): Float64Array {
  const gaps = ts.length - 1
  const count = Math.min(gaps, GAPS_MAX)
  return Float64Array.from({ length: Math.max(0, count) }, (_, i) => {
    const at = Math.floor((i * gaps) / count)
    return ts[at + 1]! - ts[at]!
  })
}

/** A gap is long, and says that the value stood still, if it is longer than this many usual ones. */
const LONG_GAPS = 3
/** A point that reports changes has many long gaps, and much of its time lies in them; outages are few. */
const CHANGE_SHARE = { gaps: 0.01, time: 0.25 }
/** Points that report changes report an unchanged value too, at the latest after about this time. */
const HEARTBEAT_MAX_MS = HOUR
const HEARTBEAT_SHARE = 0.9

/**
 * The time within which a point that works reports again, ms: the usual interval, or of a point that reports changes alone
 * the interval at which it repeats a value that stands still.
 */
export function reportingGap(ts: Float64Array): number {
  const usual = medianGap(ts)
  const gaps = gapsOf(ts)
  const long = gaps.filter(gap => gap > LONG_GAPS * usual)
  const sum = (all: Float64Array) => all.reduce((total, gap) => total + gap, 0)
  if (long.length < CHANGE_SHARE.gaps * gaps.length || sum(long) < CHANGE_SHARE.time * sum(gaps)) return usual
  let rest = HEARTBEAT_SHARE * sum(gaps)
  const heartbeat = gaps.toSorted().find(gap => (rest -= gap) <= 0) ?? usual
  return Math.max(usual, Math.min(heartbeat, HEARTBEAT_MAX_MS))
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
