/**
 * Whether the later days of a baseline show that its first ones were not normal: a leak that was there from the start and was
 * repaired. A baseline keeps one value a day under its own conditions, so the days can be compared without their samples.
 */
import { addStretch } from '#shared/core/findings/fault-time.ts'
import type { BaselineView, CauseWeight, FaultStretch } from '#shared/core/findings/finding.ts'
import { MAD_TO_SIGMA, quantileOf } from '#shared/core/series/statistics.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import type { BaselineState } from './baseline.ts'
import type { BuildingDay } from './day-rows.ts'
import { fitDays, isKnownAtZero, missOf } from './past-fit.ts'

/** What a rule knows of the beginning of its equipment since `found_at`. Plain data. */
export type Hindsight = {
  /** `[from, to)` of the first days, ms. */
  from: number
  to: number
  /** Beginning of the later, normal days, ms, the index of the first of them, and of the day that showed it. */
  normal_from: number
  normal_day: number
  found_day: number
  /** End of the day that showed it. */
  found_at: number
  /** Building dates of the first and the last of the first days, and of `found_at`. */
  dates: { first: string; last: string; found: string }
  /** Indexes of the first days with a value. */
  days: number[]
  stretches: FaultStretch[]
  /** Beginning of the first day that was furthest from normal. */
  worst_at: number
  /** Medians of the first and of the later days. */
  early: number
  later: number
  cause: CauseWeight[]
  /** The later days, as a baseline. */
  baseline: BaselineView
}

/**
 * How a rule judges the beginning on one equipment; figures in canonical units. `above`, `below`: what is broken where the first
 * days lie above or below the later ones, heaviest first.
 */
export type HindsightJudge = {
  state: BaselineState
  limit: number
  usual: number | undefined
  above: CauseWeight[]
  below: CauseWeight[]
}

/** A week of later days: less may be a holiday. */
const LATER_DAYS = 7
/** Robust standard deviations of the later days; six hardly ever happen by chance. */
const SPREADS = 6
/** Later days stay within this share of the limit, so that a slow change through the year is none. */
const STEADY = 0.5
/** Where both directions are faults, the first days are this many times as far from what physics expects as the later ones. */
const FURTHER = 2

/** What is added whatever the drivers are is this share of the distance of the days at least: the rest acts through a driver. */
const PLAIN = 0.5
/** Of the first days of a model so many must be beyond the limit: while water rests, a leak passes nothing. */
const MOST = 0.6

type Limits = { minDays: number; limit: number; usual: number | undefined; above: boolean; below: boolean }
/** The number of first days, the first later one, their medians, the mean of the later ones, and how far each day is from it. */
type Split = {
  early: number
  later: number
  medians: [early: number, later: number]
  spread: number
  mean: number
  misses: readonly number[]
}

/**
 * Splits the values of days into first ones that were not normal and later ones that are: every first one is beyond the limit,
 * every later one well within it. The day of the repair may belong to neither.
 */
export function splitOf(values: readonly number[], limits: Limits): Split | undefined {
  for (const [early, later] of splits(values.length, limits.minDays)) {
    const usual = medianOf(values.slice(later))
    const misses = values.map(value => value - usual)
    const { spread, limit } = spreadOf(misses.slice(later), limits)
    const first = medianOf(values.slice(0, early))
    const sign = Math.sign(first - usual)
    if (!misses.slice(0, early).every(miss => sign * miss > limit)) continue
    if (!isSteady(misses.slice(later), limit) || !isFault(sign, limits) || !isFurther(first, usual, limits)) continue
    return { early, later, medians: [first, usual], spread, mean: usual, misses }
  }
  return undefined
}

/**
 * The same for a model: how far the days lie from that of the later ones. What is added whatever the drivers is in the constants of
 * both models, and physics says which of them is that of a healthy machine, as long as both have seen drivers near zero. Most of
 * the first days lie beyond the limit, the last of them among these, and none as far on the other side.
 *
 * @param sums of one day each
 */
export function splitOfModel(sums: Float64Array[], drivers: number, limits: Limits): Split | undefined {
  for (const [early, later] of splits(sums.length, limits.minDays)) {
    const normal = fitDays(sums.slice(later), drivers)
    const misses = sums.map(day => missOf(normal.fit, day))
    const { spread, limit } = spreadOf(misses.slice(later), limits)
    const first = misses.slice(0, early)
    const sign = Math.sign(medianOf(first))
    const beyond = first.filter(miss => sign * miss > limit)
    if (beyond.length < MOST * early || beyond.at(-1) !== first.at(-1)) continue
    if (first.some(miss => sign * miss < -STEADY * limit)) continue
    if (!isSteady(misses.slice(later), limit) || !isFault(sign, limits)) continue
    const { fit } = fitDays(sums.slice(0, early), drivers)
    const [before, after] = [fit.factors[0]!, normal.fit.factors[0]!]
    const apart = sign * (before - after)
    if (apart <= limit || apart < PLAIN * Math.abs(medianOf(first))) continue
    if (!isKnownAtZero(fit) || !isKnownAtZero(normal.fit)) continue
    if (!isFurther(before, after, limits)) continue
    return { early, later, medians: [medianOf(first), medianOf(misses.slice(later))], spread, mean: normal.mean, misses }
  }
  return undefined
}

/** Pairs of the number of first days and the first later one, most first days first; the day of the repair may belong to neither. */
function splits(days: number, minDays: number): [early: number, later: number][] {
  return [0, 1].flatMap(between => {
    const most = days - LATER_DAYS - between
    return Array.from({ length: Math.max(0, most - minDays + 1) }, (_, i): [number, number] => [most - i, most - i + between])
  })
}

/** @returns the robust standard deviation of the later days, and the limit that is beyond six of them */
function spreadOf(later: number[], limits: Limits): { spread: number; limit: number } {
  const spread = MAD_TO_SIGMA * medianOf(later.map(Math.abs))
  return { spread, limit: Math.max(limits.limit, SPREADS * spread) }
}

const isSteady = (later: number[], limit: number): boolean => later.every(miss => Math.abs(miss) <= STEADY * limit)
const isFault = (sign: number, { above, below }: Limits): boolean => (sign > 0 ? above : below)
const isFurther = (first: number, later: number, { usual }: Limits): boolean =>
  usual === undefined || Math.abs(first - usual) >= FURTHER * Math.abs(later - usual)

const dateOfIndex = (index: number): string => new Date(index * DAY).toISOString().slice(0, 10)

const medianOf = (values: readonly number[]): number => quantileOf(Float64Array.from(values).toSorted(), values.length, 0.5)

/**
 * Judges the beginning at the end of a day; only as long as a baseline still has all of it.
 *
 * @param since the equipment's first sample ever, ms
 * @param today a whole day
 * @param isSpoilt whether a past day does not count because of another rule
 * @param isTold whether the rule itself was active on a past day
 * @returns undefined also where the rule has told of the first days at the time
 */
export function judgeBeginning(
  { state, limit, usual, above, below }: HindsightJudge,
  since: number,
  today: BuildingDay,
  isSpoilt: (day: BuildingDay) => boolean,
  isTold: (day: BuildingDay) => boolean,
): Hindsight | undefined {
  const { days: longest, min_days: minDays, on } = state.spec
  if (!(since > today.to - longest * DAY) || state.past.length < minDays + LATER_DAYS) return undefined
  const past = state.past.filter(({ day }) => !isSpoilt(day))
  const limits = { minDays, limit, usual, above: above.length > 0, below: below.length > 0 }
  const split =
    on.length > 0
      ? splitOfModel(
          past.map(({ sums }) => sums!),
          on.length,
          limits,
        )
      : splitOf(
          past.map(({ value }) => value),
          limits,
        )
  if (!split) return undefined
  // The rule compares with the first days until now: an alarm on the last of them is the repair.
  const isRepair = isTold(past[split.early - 1]!.day)
  const [first, rest] = [past.slice(0, split.early - Number(isRepair)), past.slice(split.later)]
  if (first.length < minDays || first.some(({ day }) => isTold(day))) return undefined
  const [early, later] = split.medians
  const stretches: FaultStretch[] = []
  for (const { day, minutes } of first) addStretch(stretches, [day.from, day.to, Math.min(minutes * MINUTE, day.to - day.from)])
  const far = split.misses.slice(0, first.length).map(Math.abs)
  return {
    from: first[0]!.day.from,
    to: first.at(-1)!.day.to,
    normal_from: rest[0]!.day.from,
    normal_day: rest[0]!.day.index,
    found_day: today.index,
    found_at: today.to,
    dates: { first: first[0]!.day.date, last: first.at(-1)!.day.date, found: dateOfIndex(today.index + 1) },
    days: first.map(({ day }) => day.index),
    stretches,
    worst_at: first[far.indexOf(Math.max(...far))]!.day.from,
    early,
    later,
    cause: early > later ? above : below,
    baseline: {
      ...state.view,
      value: split.mean,
      spread: split.spread,
      days_used: rest.length,
      dates: rest.map(({ day }) => day.date),
      left_out: [],
      cold: false,
    },
  }
}
