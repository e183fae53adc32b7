/** The history that a run must load before its span. */
import { nameTable } from '#shared/core/name-table.ts'
import { DAY } from '#shared/core/time.ts'
import type { TypedExpr } from './typed-expr.ts'
import { WINDOW_MAX_MS } from '#shared/core/rules/language/functions.ts'
import type { Rule } from './rule.ts'

/**
 * @returns ms of history before `from` that windows, settling and baselines need; a parameter used as a window counts with
 *   its upper bound
 */
export function historyNeeded(rules: Rule[]): number {
  return Math.max(0, ...rules.map(historyOf))
}

function historyOf(rule: Rule): number {
  const { program } = rule
  const reach = (typed: TypedExpr | undefined): number => (typed ? reachOf(typed, rule) : 0)
  const baselines = program.baselines.map(({ of, on, when, days }) => days * DAY + Math.max(...[of, ...on, when].map(reach)))
  const gate = Math.max(reach(program.gate), reach(program.guard)) + seconds(program.settle, rule)
  const condition = Math.max(reach(program.when), ...program.terms.map(({ typed }) => reach(typed)))
  return Math.max(gate, condition, ...baselines) + seconds(program.smooth, rule)
}

/** How far back an expression reads: nested windows add up. */
function reachOf(typed: TypedExpr, rule: Rule): number {
  if (typed.kind === 'ref') {
    const found = rule.program.lets.find(({ name }) => name === typed.name)
    return found ? reachOf(found.typed, rule) : 0
  }
  if (typed.kind !== 'op' && typed.kind !== 'baseline') return 0
  const inner = Math.max(0, ...typed.args.map(arg => reachOf(arg, rule)))
  if (typed.kind === 'baseline') return inner
  if (typed.op === 'day_median') return inner + DAY
  if (typed.op === 'since' || typed.op === 'age' || typed.op === 'silent_sensors') return inner + DAY
  const window = WINDOWED.has(typed.op) ? typed.args[typed.op === 'cusum' ? 2 : 1] : undefined
  return inner + (window ? Math.min(seconds(window, rule), WINDOW_MAX_MS) : 0)
}

const WINDOWED = new Set(
  'avg min max range delta lag median percentile travel changes reversals coverage duty held count starts cusum'.split(' '),
)
const UNIT_SECONDS = nameTable<number>({ s: 1, min: 60, h: 3600, d: 86_400 })

/** The longest value of a duration, ms. */
function seconds(typed: TypedExpr, { params }: Rule): number {
  if (typed.kind === 'const') return typed.value * 1000
  if (typed.kind === 'param') return params[typed.name]!.max * (UNIT_SECONDS[params[typed.name]!.unit] ?? 1) * 1000
  if (typed.kind !== 'op') return 0
  const [a = 0, b = 0] = typed.args.map(arg => seconds(arg, { params } as Rule) / 1000)
  return (typed.op === 'mul' ? a * b : typed.op === 'div' ? a / b : typed.op === 'sub' ? a : a + b) * 1000
}
