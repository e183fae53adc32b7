/** The functions of the rule language: their arguments and results. The nodes of the phase `evaluate` calculate them. */
import { nameTable } from '#shared/core/name-table.ts'

/**
 * `value` a quantity, `cond` a condition, `like` a quantity that the first argument can be compared with, `step` a
 * difference of the first argument's kind, `window` a duration, `share` a constant from 0 to 1, `role` a role's name.
 */
export type ArgumentKind = 'value' | 'cond' | 'like' | 'step' | 'window' | 'share' | 'role' | 'either'
export type FunctionSignature = {
  args: readonly ArgumentKind[]
  /** The last argument may be repeated. */
  more?: true
  gives: 'same' | 'difference' | 'number' | 'time' | 'bool' | 'integral'
  example: string
}

const fn = (args: readonly ArgumentKind[], gives: FunctionSignature['gives'], example: string): FunctionSignature => ({
  args,
  gives,
  example,
})

/** Over the trailing window (t − w, t]. */
const WINDOWS = nameTable<FunctionSignature>({
  avg: fn(['value', 'window'], 'same', 'avg(sa_t, 15m)'),
  min: fn(['value', 'window'], 'same', 'min(sa_t, 1h)'),
  max: fn(['value', 'window'], 'same', 'max(sa_t, 1h)'),
  range: fn(['value', 'window'], 'difference', 'range(sa_t, 4h)'),
  delta: fn(['value', 'window'], 'difference', 'delta(sa_t, 10m)'),
  lag: fn(['value', 'window'], 'same', 'lag(sa_t, 10m)'),
  median: fn(['value', 'window'], 'same', 'median(sa_t, 1h)'),
  percentile: fn(['value', 'window', 'share'], 'same', 'percentile(sa_t, 1h, 0.9)'),
  travel: fn(['value', 'window'], 'difference', 'travel(oa_damper, 1h)'),
  changes: fn(['either', 'window'], 'number', 'changes(mode, 1h)'),
  reversals: fn(['value', 'window', 'step'], 'number', 'reversals(oa_damper, 1h, 0.02)'),
  coverage: fn(['either', 'window'], 'number', 'coverage(sa_t, 1d)'),
  duty: fn(['cond', 'window'], 'number', 'duty(fan_on, 1d)'),
  held: fn(['cond', 'window'], 'bool', 'held(fan_on, 20m)'),
  count: fn(['cond', 'window'], 'number', 'count(sa_t > 20, 1d)'),
  starts: fn(['cond', 'window'], 'number', 'starts(fan_status > 0, 1h)'),
  cusum: fn(['value', 'step', 'window'], 'integral', 'cusum(zone_t - zone_t_sp, 0.5 K, 1d)'),
})

export const FUNCTIONS = nameTable<FunctionSignature>({
  ...WINDOWS,
  since: fn(['cond'], 'time', 'since(fan_on)'),
  age: fn(['role'], 'time', 'age(sa_t)'),
  day_median: fn(['value'], 'same', 'day_median(sa_t - ma_t)'),

  abs: fn(['value'], 'same', 'abs(oa_t - ra_t)'),
  least: { ...fn(['value', 'like'], 'same', 'least(oa_t, ra_t)'), more: true },
  greatest: { ...fn(['value', 'like'], 'same', 'greatest(oa_t, ra_t)'), more: true },
  first: { ...fn(['either', 'like'], 'same', 'first(zone_flow_max, 0.5 m3/s)'), more: true },
  if: fn(['cond', 'either', 'like'], 'same', 'if(has(fan_speed), fan_speed > 0.25, true)'),

  has: fn(['role'], 'bool', 'has(fan_speed)'),
  rests: fn(['role'], 'bool', 'rests(x)'),
  nominal: fn(['role'], 'time', 'nominal(x)'),
  lowest: fn(['role'], 'same', 'lowest(x)'),
  highest: fn(['role'], 'same', 'highest(x)'),
  sensors: fn([], 'number', 'sensors()'),
  silent_sensors: fn(['window'], 'number', 'silent_sensors(60m)'),
  off_set_point: fn(['role'], 'difference', 'off_set_point(x)'),
  parent: fn(['role'], 'same', 'parent(sa_t)'),
})

const BY_STEPS = 'held(abs(delta(a, 5m)) <= 1 % or abs(delta(a, 5m)) >= 15 %, w) and min(a, w) <= 1 % and range(a, w) >= 15 %'
const bySteps = (window: string): string => BY_STEPS.replaceAll(', w)', `, ${window})`)

/** Of a share of 0 to 1 that is said to be percent every stroke is within one; half of the least step more. */
const SCALED = '(max(a, w) > 1.05 % or range(avg(a, 15m), w) <= 0.1 %)'
const scaledWithin = (window: string): string => SCALED.replaceAll(', w)', `, ${window})`)

/**
 * Functions that stand for an expression of their arguments. Machines have at most six stages, each a sixth of the capacity or more, and
 * are off at times; a modulating output moves by less within a week, in early history within a day or four hours.
 */
export const EXPANSIONS = nameTable<{ args: readonly string[]; of: string; example: string }>({
  staged: {
    args: ['a'],
    of: `first(${bySteps('7d')}, ${bySteps('1d')}, ${bySteps('4h')}, false)`,
    example: 'staged(htg_valve)',
  },
  scaled: {
    args: ['a'],
    of: `first(${scaledWithin('7d')}, ${scaledWithin('1d')}, ${scaledWithin('12h')}, ${scaledWithin('4h')}, true)`,
    example: 'scaled(clg_valve)',
  },
})

/** The aggregates of `zones(role, how)` over the equipment that this one feeds, and the share of it that has the role. */
export const ZONE_AGGREGATES = ['avg', 'min', 'max', 'median', 'sum', 'share'] as const
export type ZoneAggregate = (typeof ZONE_AGGREGATES)[number]

/** Functions of a declared baseline: its value, its spread, whether it has too few days, and the tolerance for that time. */
export const BASELINE_FUNCTIONS = ['base', 'spread', 'cold', 'tolerance'] as const

/** Longest time that a baseline covers, days. */
export const BASELINE_DAYS_MAX = 92

/** Longest window, ms: a run over a month of history can fill it. */
export const WINDOW_MAX_MS = 31 * 86_400_000
