/**
 * Whether the later days of a baseline show that its first ones were not normal: a leak that was there from the start and was
 * repaired. A baseline keeps one value a day under its own conditions, so the days can be compared without their samples.
 */
import { addStretch } from '#shared/core/findings/fault-time.ts'
import type { BaselineView, CauseWeight, FaultStretch } from '#shared/core/findings/finding.ts'
import type { HindsightSpec } from '#shared/core/rules/check/rule.ts'
import { MAD_TO_SIGMA, quantileOf } from '#shared/core/series/statistics.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import type { BaselineState } from './baseline.ts'
import type { BuildingDay } from './day-rows.ts'

/** What a rule knows of the beginning of its equipment since `found_at`. Plain data. */
export type Hindsight = {
  /** `[from, to)` of the first days, ms. */
  from: number
  to: number
  /** Beginning of the later, normal days, ms, and the index of the first of them. */
  normal_from: number
  normal_day: number
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

/** How a rule judges the beginning on one equipment; figures in canonical units. */
export type HindsightJudge = { spec: HindsightSpec; state: BaselineState; limit: number; usual: number | undefined }

/** A week of later days: less may be a holiday. */
const LATER_DAYS = 7
/** Robust standard deviations of the later days; six hardly ever happen by chance. */
const SPREADS = 6
/** Later days stay within this share of the limit, so that a slow change through the year is none. */
const STEADY = 0.5
/** Where both directions are faults, the first days are this many times as far from what physics expects as the later ones. */
const FURTHER = 2

type Limits = { minDays: number; limit: number; usual: number | undefined; above: boolean; below: boolean }
/** The first `early` values, those from `later` on, and their medians. */
type Split = { early: number; later: number; medians: [early: number, later: number]; spread: number }

/**
 * Splits the values of days into first ones that were not normal and later ones that are: every first one is beyond the limit,
 * every later one well within it. The day of the repair may belong to neither.
 */
export function splitOf(values: readonly number[], limits: Limits): Split | undefined {
  for (const between of [0, 1]) {
    for (let early = values.length - LATER_DAYS - between; early >= limits.minDays; early--) {
      const later = early + between
      const usual = medianOf(values.slice(later))
      const distances = values.map(value => Math.abs(value - usual))
      const spread = MAD_TO_SIGMA * medianOf(distances.slice(later))
      const limit = Math.max(limits.limit, SPREADS * spread)
      const first = medianOf(values.slice(0, early))
      const isAbove = first > usual
      const isBeyond = (value: number) => (isAbove ? value - usual : usual - value) > limit
      if (!values.slice(0, early).every(isBeyond)) continue
      if (distances.slice(later).some(distance => distance > STEADY * limit)) continue
      if (isAbove ? !limits.above : !limits.below) continue
      if (limits.usual !== undefined && Math.abs(first - limits.usual) < FURTHER * Math.abs(usual - limits.usual)) continue
      return { early, later, medians: [first, usual], spread }
    }
  }
  return undefined
}

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
  { spec, state, limit, usual }: HindsightJudge,
  since: number,
  today: BuildingDay,
  isSpoilt: (day: BuildingDay) => boolean,
  isTold: (day: BuildingDay) => boolean,
): Hindsight | undefined {
  const { days: longest, min_days: minDays } = state.spec
  if (!(since > today.to - longest * DAY) || state.past.length < minDays + LATER_DAYS) return undefined
  const past = state.past.filter(({ day }) => !isSpoilt(day))
  const both = { above: spec.above.length > 0, below: spec.below.length > 0 }
  const split = splitOf(
    past.map(({ value }) => value),
    { minDays, limit, usual, ...both },
  )
  if (!split) return undefined
  // The rule compares with the first days until now: an alarm on the last of them is the repair.
  const isRepair = isTold(past[split.early - 1]!.day)
  const [first, rest] = [past.slice(0, split.early - Number(isRepair)), past.slice(split.later)]
  if (first.length < minDays || first.some(({ day }) => isTold(day))) return undefined
  const [early, later] = split.medians
  const stretches: FaultStretch[] = []
  for (const { day, minutes } of first) addStretch(stretches, [day.from, day.to, Math.min(minutes * MINUTE, day.to - day.from)])
  const worst = first.reduce((a, b) => (Math.abs(b.value - later) > Math.abs(a.value - later) ? b : a))
  return {
    from: first[0]!.day.from,
    to: first.at(-1)!.day.to,
    normal_from: rest[0]!.day.from,
    normal_day: rest[0]!.day.index,
    found_at: today.to,
    dates: { first: first[0]!.day.date, last: first.at(-1)!.day.date, found: dateOfIndex(today.index + 1) },
    days: first.map(({ day }) => day.index),
    stretches,
    worst_at: worst.day.from,
    early,
    later,
    cause: early > later ? spec.above : spec.below,
    baseline: {
      ...state.view,
      value: later,
      spread: split.spread,
      days_used: rest.length,
      dates: rest.map(({ day }) => day.date),
      left_out: [],
      cold: false,
    },
  }
}
