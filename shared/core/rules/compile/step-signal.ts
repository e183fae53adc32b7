/**
 * A role's samples as a step function: a sample holds until the next one, but for at most three nominal intervals.
 *
 * Rules see nothing but this step function, so the order of samples, duplicates and repeated values change nothing.
 */
import { ROLES, readAs } from '#shared/core/model/role.ts'
import { MINUTE } from '#shared/core/time.ts'
import type { UntrustedSpan } from '#shared/core/series/untrusted-spans.ts'
import type { RoleSeries } from './equipment-data.ts'

/** Number of nominal intervals for which a sample holds. */
const HOLD_INTERVALS = 3

export type StepSignal = {
  equipment_id: string
  role: string
  /** The point of a mapped role, and the point's unit. */
  point_id?: string
  unit?: string
  /** [n] strictly ascending */
  ts: Float64Array
  values: Float64Array
  /** [n] the values as they were read, where some of them are doubted. */
  read?: Float64Array
  holdMs: number
  nominalMs: number
  /** No change lies between two samples, however far apart they are. */
  reportsChanges: boolean
  /** Samples in these spans are not trusted and have no value. */
  untrusted?: readonly UntrustedSpan[]
  /** Plausible range in the canonical unit. */
  low: number
  high: number
  /** Instants between full minutes at which the value changes, ascending. */
  offMinuteChanges: Float64Array
  /** There is one sample at every full minute, each plausible or missing, so that a day of samples is a column. */
  isMinutely: boolean
}

export function createStepSignal(
  equipment_id: string,
  role: string,
  series: Partial<RoleSeries> & Omit<RoleSeries, 'point_id'>,
): StepSignal {
  const even = hasEveryMinute(series.ts)
  const { ts, values: given } = even ? series : ordered(series)
  const read = series.read && (even ? series.read : ordered({ ts: series.ts, values: series.read }).values)
  const values = clampToStops(role, given)
  const holdMs = HOLD_INTERVALS * series.nominalMs
  const [low, high] = ROLES[role]?.range ?? [-Infinity, Infinity]
  const minutely = even && holdMs >= MINUTE && isPlausible(values, low, high)
  return {
    equipment_id,
    role,
    ...(series.point_id !== undefined && { point_id: series.point_id }),
    ...(series.unit !== undefined && { unit: series.unit }),
    ...(series.untrusted && { untrusted: series.untrusted }),
    ts,
    values,
    ...(read && { read }),
    holdMs,
    nominalMs: series.nominalMs,
    reportsChanges: series.reportsChanges === true,
    low,
    high,
    offMinuteChanges: minutely && !isOffMinute(holdMs) ? new Float64Array(0) : offMinute(ts, values, read ?? values, holdMs),
    isMinutely: minutely,
  }
}

/** Strictly ascending copies. Of two samples at one instant the greater counts, whatever their order. */
function ordered({ ts, values }: Pick<RoleSeries, 'ts' | 'values'>): { ts: Float64Array; values: Float64Array } {
  let ascending = true
  for (let i = 1; i < ts.length && ascending; i++) ascending = ts[i]! > ts[i - 1]!
  if (ascending) return { ts, values }
  const rank = (i: number) => (Number.isNaN(values[i]!) ? -Infinity : values[i]!)
  const order = Array.from(ts, (_, i) => i).toSorted((a, b) => ts[a]! - ts[b]! || rank(b) - rank(a))
  const kept = order.filter((i, at) => at === 0 || ts[i] !== ts[order[at - 1]!])
  return { ts: Float64Array.from(kept, i => ts[i]!), values: Float64Array.from(kept, i => values[i]!) }
}

/**
 * @returns `values` with signals slightly beyond the actuator's end stops moved to the stops; the same array where there are
 *   none
 */
function clampToStops(role: string, values: Float64Array): Float64Array {
  const stops = Object.hasOwn(ROLES, role) ? ROLES[role]!.stops : undefined
  if (!stops || isPlausible(values, stops[0], stops[1])) return values
  return values.map(value => readAs(role, value))
}

function offMinute(ts: Float64Array, values: Float64Array, read: Float64Array, holdMs: number): Float64Array {
  const found: number[] = []
  let holding = Number.NaN
  let holdingRead = Number.NaN
  for (let i = 0; i < ts.length; i++) {
    const t = ts[i]!
    const value = values[i]!
    const isChange = !Object.is(value, holding) || !Object.is(read[i]!, holdingRead)
    if (isOffMinute(t) && isChange) found.push(t)
    const end = t + holdMs
    const silent = i + 1 === ts.length || ts[i + 1]! > end
    if (silent && isOffMinute(end)) found.push(end)
    holding = silent ? Number.NaN : value
    holdingRead = silent ? Number.NaN : read[i]!
  }
  return Float64Array.from(found)
}

function hasEveryMinute(ts: Float64Array): boolean {
  if (ts.length === 0 || isOffMinute(ts[0]!)) return false
  for (let i = 1; i < ts.length; i++) if (ts[i]! - ts[i - 1]! !== MINUTE) return false
  return true
}

function isPlausible(values: Float64Array, low: number, high: number): boolean {
  for (let i = 0; i < values.length; i++) if (values[i]! < low || values[i]! > high) return false
  return true
}

const isOffMinute = (t: number): boolean => Math.floor(t / MINUTE) * MINUTE !== t

/** First index whose instant is at or after `t`. */
export function firstAtOrAfter(ts: Float64Array, t: number): number {
  let low = 0
  let high = ts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (ts[middle]! < t) low = middle + 1
    else high = middle
  }
  return low
}
