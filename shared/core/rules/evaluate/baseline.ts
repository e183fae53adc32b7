/** The equipment's own past: one figure a day, and the median of the past days' figures. */
import type { BaselineView } from '#shared/core/findings/finding.ts'
import { DAY } from '#shared/core/time.ts'
import type { Node } from './node.ts'
import type { BuildingDay, DayRows } from './day-rows.ts'
import type { BaselineSpec } from '#shared/core/rules/check/rule.ts'
import { quantileOf } from './window-operators.ts'

export type BaselineState = {
  spec: BaselineSpec
  fallback: number | undefined
  toleranceCold: number | undefined
  /** When a person began it anew, ms. */
  resetAt: number | undefined
  /** Past days' figures, oldest first. */
  past: { day: BuildingDay; value: number }[]
  value: number
  spread: number
  view: BaselineView
}

/** Normal consistency of the median absolute deviation. */
const MAD_TO_SIGMA = 1.4826
const MINUTE_MS = 60_000
/** Why a day before a reset is left out. */
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
  return { spec, fallback, toleranceCold, resetAt: undefined, past: [], value: Number.NaN, spread: Number.NaN, view }
}

/** Forgets the past of one equipment: another is next. */
export function restartBaseline(state: BaselineState, resetAt: number | undefined): void {
  Object.assign(state, createBaselineState(state.spec, state.fallback, state.toleranceCold), { resetAt })
}

const orNull = (value: number): number | null => (Number.isNaN(value) ? null : value)

/**
 * Fixes the baseline for the day that begins: it never sees the day itself.
 *
 * @param leftOut why a past day must not count, or undefined
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
  const values = Float64Array.from(used, ({ value }) => value).toSorted()
  state.value = cold ? (state.fallback ?? Number.NaN) : quantileOf(values, values.length, 0.5)
  const distances = values.map(value => Math.abs(value - state.value)).toSorted()
  state.spread = cold ? Number.NaN : MAD_TO_SIGMA * quantileOf(distances, distances.length, 0.5)
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

/** Adds the finished day's figure, when the day holds enough of values. */
export function endBaselineDay(state: BaselineState, rows: DayRows, of: Node, when: Node): void {
  const { spec } = state
  const values = new Float64Array(rows.n)
  let count = 0
  for (let i = 0; i < rows.n; i++) {
    const value = of.out[i]!
    if (rows.minute[i] === 1 && when.out[i] === 1 && value === value) values[count++] = value
  }
  if (count === 0 || count * MINUTE_MS < spec.minimum) return
  const sorted = values.subarray(0, count).toSorted()
  const value = spec.stat === 'avg' ? sorted.reduce((sum, each) => sum + each, 0) / count : quantileOf(sorted, count, spec.stat)
  state.past.push({ day: rows.day, value })
}

/** Flat: index, beginning and end of the day, its figure. */
const PAST_WIDTH = 4
export type SavedBaseline = { past: Float64Array; view: BaselineView }

export function saveBaseline({ past, view }: BaselineState): SavedBaseline {
  return { past: Float64Array.from(past.flatMap(({ day: { index, from, to }, value }) => [index, from, to, value])), view }
}

/** What begins a day needs no more than the past days' figures; the view is that of the last day. */
export function loadBaseline(state: BaselineState, { past, view }: SavedBaseline): void {
  state.view = view
  for (let i = 0; i < past.length; i += PAST_WIDTH) {
    const [index, from, to, value] = past.subarray(i, i + PAST_WIDTH) as unknown as [number, number, number, number]
    state.past.push({ day: { index, date: new Date(index * DAY).toISOString().slice(0, 10), from, to }, value })
  }
}
