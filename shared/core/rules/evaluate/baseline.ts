/**
 * Baselines: one value a day from the equipment's own past, and the median of the values of past days; or a model fitted to
 * the values of past days.
 */
import type { BaselineView } from '#shared/core/findings/finding.ts'
import { DAY } from '#shared/core/time.ts'
import type { Node } from './node.ts'
import type { BuildingDay, DayRows } from './day-rows.ts'
import { fitDays, type PastFit, sumsOfDay, sumsWidth } from './past-fit.ts'
import type { BaselineSpec } from '#shared/core/rules/check/rule.ts'
import { MAD_TO_SIGMA, quantileOf } from '#shared/core/series/statistics.ts'

export type BaselineState = {
  spec: BaselineSpec
  fallback: number | undefined
  toleranceCold: number | undefined
  /** When a person reset it, ms. */
  resetAt: number | undefined
  /**
   * The values of past days, oldest first, with the number of full minutes that they are based on; where a model is fitted, the
   * sums of the day as well.
   */
  past: { day: BuildingDay; value: number; minutes: number; sums?: Float64Array }[]
  /** Of a baseline with drivers that has enough days. */
  fit: PastFit | undefined
  value: number
  spread: number
  view: BaselineView
}

const MINUTE_MS = 60_000
/** The reason given for a day before a reset. */
export const RESET = 'reset'

export function createBaselineState(
  spec: BaselineSpec,
  fallback: number | undefined,
  toleranceCold: number | undefined,
): BaselineState {
  const { name, min_days, unit, absolute } = spec
  const view: BaselineView = {
    name,
    value: null,
    spread: null,
    days_used: 0,
    dates: [],
    left_out: [],
    cold: true,
    min_days,
    unit,
    absolute,
    fallback: fallback ?? null,
    tolerance_cold: toleranceCold ?? null,
  }
  return {
    spec,
    fallback,
    toleranceCold,
    resetAt: undefined,
    past: [],
    fit: undefined,
    value: Number.NaN,
    spread: Number.NaN,
    view,
  }
}

/** Drops the past of one equipment before the next is evaluated. */
export function restartBaseline(state: BaselineState, resetAt: number | undefined): void {
  Object.assign(state, createBaselineState(state.spec, state.fallback, state.toleranceCold), { resetAt })
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value)

/**
 * Calculates the baseline for a day; the day itself is never part of it.
 *
 * @param leftOut why a past day does not count, or undefined
 */
export function beginBaselineDay(
  state: BaselineState,
  today: BuildingDay,
  leftOut: (day: BuildingDay) => string | undefined,
): void {
  const { spec, resetAt } = state
  state.past = state.past.filter(({ day }) => day.index >= today.index - spec.days)
  const left_out: BaselineView['left_out'] = []
  const used = state.past.filter(({ day }) => {
    const why = resetAt !== undefined && today.to > resetAt && day.from < resetAt ? RESET : leftOut(day)
    if (why !== undefined) left_out.push({ date: day.date, why })
    return why === undefined
  })
  const cold = used.length < spec.min_days
  const { value, misses, fit } = cold ? { value: state.fallback ?? Number.NaN } : expectedOf(used, spec)
  state.fit = fit
  state.value = value
  const distances = misses?.map(Math.abs).toSorted()
  state.spread = distances ? MAD_TO_SIGMA * quantileOf(distances, distances.length, 0.5) : Number.NaN
  const dates = used.map(({ day }) => day.date)
  state.view = {
    ...state.view,
    value: orNull(state.value),
    spread: orNull(state.spread),
    days_used: used.length,
    dates,
    left_out,
    cold,
  }
}

type Expected = { value: number; misses: Float64Array; fit?: PastFit }

/** What past days say, and by how much each of them differs from it. */
function expectedOf(used: BaselineState['past'], { on }: BaselineSpec): Expected {
  if (on.length > 0) {
    const { fit, mean, misses } = fitDays(
      used.map(({ sums }) => sums!),
      on.length,
    )
    return { value: mean, misses, fit }
  }
  const values = Float64Array.from(used, ({ value }) => value).toSorted()
  const value = quantileOf(values, values.length, 0.5)
  return { value, misses: values.map(each => each - value) }
}

/** Adds the value of the finished day, if the day has enough values. */
export function endBaselineDay(state: BaselineState, rows: DayRows, of: Node, on: Node[], when: Node): void {
  const { spec } = state
  if (on.length > 0) {
    const sums = sumsOfDay(rows, of, on, when)
    const isEnough = sums[0]! > 0 && sums[0]! * MINUTE_MS >= spec.minimum
    if (isEnough) state.past.push({ day: rows.day, value: sums[1 + on.length]!, minutes: sums[0]!, sums })
    return
  }
  const values = new Float64Array(rows.n)
  let count = 0
  for (let i = 0; i < rows.n; i++) {
    const value = of.out[i]!
    if (rows.minute[i] === 1 && when.out[i] === 1 && value === value) values[count++] = value
  }
  if (count === 0 || count * MINUTE_MS < spec.minimum) return
  const sorted = values.subarray(0, count).toSorted()
  const value = spec.stat === 'avg' ? sorted.reduce((sum, each) => sum + each, 0) / count : quantileOf(sorted, count, spec.stat)
  state.past.push({ day: rows.day, value, minutes: count })
}

/** Elements of a saved day: its index, beginning and end, its value and minutes, and the sums of a fitted one. */
const PAST_WIDTH = 5
const widthOf = ({ on }: BaselineSpec): number => PAST_WIDTH + (on.length > 0 ? sumsWidth(on.length) : 0)
export type SavedBaseline = { past: Float64Array; view: BaselineView }

export function saveBaseline({ past, view }: BaselineState): SavedBaseline {
  const numbers = past.flatMap(({ day: { index, from, to }, value, minutes, sums = [] }) => [
    index,
    from,
    to,
    value,
    minutes,
    ...sums,
  ])
  return { past: Float64Array.from(numbers), view }
}

/** The values of past days are enough to begin the next day; the view is that of the last day. */
export function loadBaseline(state: BaselineState, { past, view }: SavedBaseline): void {
  state.view = view
  const width = widthOf(state.spec)
  for (let i = 0; i < past.length; i += width) {
    const [index, from, to, value, minutes] = past.subarray(i, i + PAST_WIDTH) as unknown as [
      number,
      number,
      number,
      number,
      number,
    ]
    const day = { index, date: new Date(index * DAY).toISOString().slice(0, 10), from, to }
    const kept = { day, value, minutes }
    state.past.push(width > PAST_WIDTH ? { ...kept, sums: past.slice(i + PAST_WIDTH, i + width) } : kept)
  }
}
