/** The evidence of a finding: the condition term by term, the inputs and one sentence, all of the worst moment. */
import { nameTable } from '#shared/core/name-table.ts'
import type { BaselineView, CauseWeight, Evidence } from '#shared/core/findings/finding.ts'
import { isRunningSum } from '#shared/core/priority/array-snapshot.ts'
import { formatDuration } from '#shared/core/time.ts'
import { UNITS } from '#shared/core/model/unit.ts'
import type { RuleInstance } from '#shared/core/rules/compile/compile-rule.ts'
import { PERCENTAGE_POINTS } from '#shared/core/rules/language/dimension.ts'
import type { Hindsight } from '#shared/core/rules/evaluate/hindsight.ts'
import type { Episode, Tally } from '#shared/core/rules/episodes/episodes.ts'
import { roleState } from '#shared/core/rules/evaluate/role-nodes.ts'
import { firstAtOrAfter, type StepSignal } from '#shared/core/rules/compile/step-signal.ts'

/** @param worst with its inputs and baselines, as `captureMoment` sets them */
export function evidenceOf(instance: RuleInstance, { worst, tally }: Episode): Evidence {
  const { rule, terms, params } = instance
  const { inputs = {}, baselines = [] } = worst
  const evidence: Evidence = {
    expression: rule.program.expression,
    terms: terms.map(({ text }, index) => ({ text, holds: holdsOf(worst.seen[index]) })),
    inputs,
    params,
    worst_at: worst.at,
    sentence: sentenceOf(instance, worst.seen.subarray(terms.length), tally.trueMs),
  }
  return baselines.length > 0 ? { ...evidence, baselines } : evidence
}

/** The end of each sentence of a finding in hindsight. */
export const hindsightTail = ({ first, last, found }: Hindsight['dates']): string =>
  `It was so from ${first} to ${last} and was found on ${found}, because the later weeks show that the beginning was not normal.`

/**
 * The evidence of a finding in hindsight: the days of a baseline instead of a moment. The roles are named without values, because
 * their samples are not read again.
 */
export function hindsightEvidence(
  { rule, params, leaves }: RuleInstance,
  { early, later, worst_at, baseline, dates }: Hindsight,
): Evidence {
  const { unit = '', absolute = false } = baseline
  const values = { early: formatFigure(early, unit, absolute), later: formatFigure(later, unit, absolute) }
  const words = rule.program.hindsight!.explains.map(part => (typeof part === 'string' ? part : values[part.word]))
  const roles = new Set(leaves.map(({ role }) => role).filter(role => !isRunningSum(role)))
  return {
    expression: rule.program.expression,
    terms: [],
    inputs: Object.fromEntries([...roles].map(role => [role, null])),
    params,
    worst_at,
    sentence: `${words.join('')} ${hindsightTail(dates)}`,
    baselines: [baseline],
  }
}

const holdsOf = (value: number | undefined): boolean | null => (value === 1 ? true : value === 0 ? false : null)

/** Stores inputs and baselines with the worst moment while the samples of its day are loaded. */
export function captureMoment(instance: RuleInstance, { worst }: Episode, baselines: () => BaselineView[]): void {
  worst.inputs ??= inputsOf(instance, worst.at)
  worst.baselines ??= baselines()
}

/** The value of every role that was read; null where it had no usable value. */
function inputsOf({ leaves, rule }: RuleInstance, at: number): Record<string, number | null> {
  const inputs: Record<string, number | null> = {}
  for (const steps of leaves) {
    if (steps.role in inputs || isRunningSum(steps.role)) continue
    inputs[steps.role] = valueAt(steps, at, rule.program.raw)
  }
  return inputs
}

function valueAt(steps: StepSignal, at: number, raw: boolean): number | null {
  if (roleState(steps, at, raw) !== 0) return null
  return steps.values[firstAtOrAfter(steps.ts, at + 1) - 1]!
}

function sentenceOf({ figures, rule, role }: RuleInstance, seen: Float64Array, trueMs: number): string {
  let next = 0
  const words = figures.map(part => {
    if (typeof part === 'string') return part
    if ('node' in part) return formatFigure(seen[next++] ?? Number.NaN, part.unit, part.absolute)
    return part.word === 'duration' ? formatDuration(trueMs) : (role ?? '')
  })
  return words.length > 0 ? words.join('') : role === undefined ? rule.title : `${rule.title}: ${role}`
}

const SYMBOLS = nameTable<string>({ degC: '°C', degF: '°F', 'm3/s': 'm³/s', 'm3/h': 'm³/h', inwc: 'in.w.c.' })

/**
 * @param value in canonical units
 * @param unit in which people read it; empty for a plain number
 * @param absolute true for a temperature, false for a difference
 */
function formatFigure(value: number, unit: string, absolute: boolean): string {
  if (Number.isNaN(value)) return 'unknown'
  if (unit === 'bool') return value > 0 ? 'on' : 'off'
  if (unit === PERCENTAGE_POINTS) return `${plain(100 * value)} ${PERCENTAGE_POINTS}`
  const known = UNITS[unit]
  if (!known) return plain(value)
  if (known.dimension === 'time') return formatDuration(value * 1000)
  if (known.dimension === 'fraction') return `${Math.round(value * 1000) / 10} %`
  const shown = (value - (absolute ? known.offset : 0)) / known.scale
  return `${known.dimension === 'temperature' ? shown.toFixed(1).replace(/^-0\.0$/, '0.0') : plain(shown)} ${SYMBOLS[unit] ?? unit}`
}

const plain = (value: number): string => String(Number(value.toPrecision(3)))

/** The causes of a rule, heaviest first. */
export function causesOf(instance: RuleInstance, tally: CauseTally): CauseWeight[] {
  const sums = new Map<string, number>()
  for (const { component, weight } of countedCauses(instance, tally)) sums.set(component, (sums.get(component) ?? 0) + weight)
  return rankCauses(sums)
}

type CauseTally = Pick<Tally, 'trueMs' | 'causeMs'>

/**
 * The weights of a rule that count, in its order. A conditional one counts when its condition held for half of the time in fault; where
 * nothing is named then, each counts by its share of that time.
 */
export function countedCauses({ causes }: RuleInstance, { trueMs, causeMs }: CauseTally): CauseWeight[] {
  const counted = causes.flatMap(({ component, weight, when }, i) =>
    !when || causeMs[i]! * 2 >= trueMs ? [{ component, weight }] : [],
  )
  if (counted.some(({ weight }) => weight > 0)) return counted
  const shared = causes.map(({ component, weight }, i) => ({ component, weight: (weight * causeMs[i]!) / trueMs }))
  return [...counted, ...shared.filter(({ weight }) => weight > 0)]
}

/** Heaviest first; components with a weight of zero or less are left out. */
export const rankCauses = (sums: Map<string, number>): CauseWeight[] =>
  [...sums]
    .map(([component, weight]) => ({ component, weight: Math.round(weight * 1e6) / 1e6 }))
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight || (a.component < b.component ? -1 : 1))
