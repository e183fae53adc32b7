/**
 * How unusual an hour is: its mean against the same hour of the week in the weeks before, as a robust z-score.
 *
 * The score is (x − m) / (1.4826 × s): m is the median of that hour of the week, s the greater of its median absolute
 * deviation and the usual deviation over all hours. The second prevents a few equal values from making every difference
 * infinite. Medians are exact: with eight weeks an hour of the week has at most nine values.
 *
 * @source Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993 (modified z-score)
 */
import { MAD_TO_SIGMA, medianOf } from '#shared/core/series/statistics.ts'
import { HOURS_PER_WEEK, type WeekHours } from './week-hours.ts'

/** Past values that an hour of the week needs to be scored. */
const PAST_LEAST = 4
/** Deviations below this are rounding. */
const EQUAL = 1e-9

export type ScoredHour = { at: number; to: number; value: number; expected: number; sigma: number; score: number }
export type ScoringResult =
  | { state: 'scored'; hours: ScoredHour[] }
  | { state: 'no_data' | 'insufficient_history' | 'never_changes' }

/**
 * @param means [n] by hour, NaN where it is not known
 * @param from hours that begin before it are the past; the others are scored against the past only
 */
export function scoreHours({ bounds, slots }: WeekHours, means: Float64Array, from: number): ScoringResult {
  const split = bounds.findIndex(bound => bound >= from)
  const first = split < 0 ? means.length : Math.min(split, means.length)
  if (means.subarray(first).every(value => Number.isNaN(value))) return { state: 'no_data' }
  const bySlot = Map.groupBy(knownBefore(means, first), i => slots[i]!)
  const medians = new Float64Array(HOURS_PER_WEEK).fill(Number.NaN)
  const deviations = new Float64Array(HOURS_PER_WEEK).fill(Number.NaN)
  const all: number[] = []
  let pastValues = 0
  for (const [slot, hours] of bySlot) {
    if (hours.length < PAST_LEAST) continue
    const median = medianOf(hours.map(i => means[i]!))
    const distances = hours.map(i => Math.abs(means[i]! - median))
    medians[slot] = median
    deviations[slot] = medianOf(distances)
    pastValues += hours.length
    for (const distance of distances) if (distance > EQUAL) all.push(distance)
  }
  if (pastValues === 0) return { state: 'insufficient_history' }
  if (all.length === 0) return { state: 'never_changes' }
  const common = medianOf(all)
  const hours: ScoredHour[] = []
  for (let i = first; i < means.length; i++) {
    const expected = medians[slots[i]!]!
    const value = means[i]!
    if (Number.isNaN(value) || Number.isNaN(expected)) continue
    const sigma = MAD_TO_SIGMA * Math.max(deviations[slots[i]!]!, common)
    hours.push({ at: bounds[i]!, to: bounds[i + 1]!, value, expected, sigma, score: (value - expected) / sigma })
  }
  return hours.length > 0 ? { state: 'scored', hours } : { state: 'insufficient_history' }
}

function knownBefore(means: Float64Array, first: number): number[] {
  const known: number[] = []
  for (let i = 0; i < first; i++) if (!Number.isNaN(means[i]!)) known.push(i)
  return known
}

/** Hours in a row whose score is beyond `least` on one side. */
export type Anomaly = { from: number; to: number; hours: number; worst: ScoredHour }

/** @param hours in time order; a missing hour ends an anomaly */
export function anomaliesOf(hours: readonly ScoredHour[], least: number): Anomaly[] {
  const found: Anomaly[] = []
  for (const hour of hours) {
    if (Math.abs(hour.score) < least) continue
    const last = found.at(-1)
    if (!last || last.to !== hour.at || Math.sign(last.worst.score) !== Math.sign(hour.score)) {
      found.push({ from: hour.at, to: hour.to, hours: 1, worst: hour })
      continue
    }
    last.to = hour.to
    last.hours++
    if (Math.abs(hour.score) > Math.abs(last.worst.score)) last.worst = hour
  }
  return found
}
