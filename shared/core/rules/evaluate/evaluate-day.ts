/** Evaluates one rule on one day: intervals of true, false and not evaluated, and the time of each outcome. */
import { isGateClosed, RESULT_REASONS, type ResultReason, GATE_CLOSED_REASONS } from '#shared/core/findings/finding.ts'
import { emptyWasteSums, sumWaste } from '#shared/core/impact/waste-meter.ts'
import type { RuleInstance } from '#shared/core/rules/compile/compile-rule.ts'
import type { WorstMoment, IntervalDetail, StateInterval } from '#shared/core/rules/episodes/episodes.ts'
import { roleState } from './role-nodes.ts'
import type { DayRows } from './day-rows.ts'

/** Time within `[from, to)` of the run, ms, by outcome. */
export type OutcomeTimes = {
  evaluatedMs: number
  missedMs: Record<ResultReason, number>
  /** The part of the missed time in which the gate was open. */
  openMs: number
}

const NOT_MISSED = Object.fromEntries(RESULT_REASONS.map(reason => [reason, 0])) as Record<ResultReason, number>

export const noTimes = (): OutcomeTimes => ({ evaluatedMs: 0, missedMs: { ...NOT_MISSED }, openMs: 0 })

const FALSE = 0
const TRUE = 1
const GATED = 2
const SETTLING = 3
const MISSING = 4

/**
 * Splits a day into intervals and gives them to `feed` in time order.
 *
 * @param span only time within it counts as evaluated or missed
 */
export function evaluateDay(
  instance: RuleInstance,
  rows: DayRows,
  coverage: OutcomeTimes,
  span: { from: number; to: number },
  feed: (stretch: StateInterval, seen?: IntervalDetail) => void,
): void {
  const { n, t, day } = rows
  let start = 0
  let state = n > 0 ? stateAt(instance, 0) : MISSING
  for (let i = 0; i < n; ) {
    i = endOfState(instance, i, n)
    const next = i < n ? stateAt(instance, i) : undefined
    if (next === state) continue
    const from = t[start]!
    const to = t[i]!
    addTime(instance, rows, start, i, state, coverage, span)
    if (state === TRUE) feed({ from, to, day: day.index, state: 'true' }, describeTrueStretch(instance, rows, start, i))
    else feed({ from, to, day: day.index, state: state === FALSE ? 'false' : 'unknown' })
    start = i
    state = next ?? MISSING
  }
}

function stateAt(instance: RuleInstance, i: number): number {
  if (instance.active.out[i] !== 1) return shutState(instance, i)
  if (instance.isTooCoarse) return MISSING
  const value = instance.when.out[i]
  return value === 1 ? TRUE : value === 0 ? FALSE : MISSING
}

/** @returns a row after `i` up to which the state does not change; a quick scan, because most of a day is skipped here */
function endOfState({ active, when, gate }: RuleInstance, i: number, n: number): number {
  const open = active.out
  let next = i + 1
  if (open[i] === 1) {
    const values = when.out
    const value = values[i]
    while (next < n && open[next] === 1 && values[next] === value) next++
  } else if (gate.out[i] === 0) {
    const gates = gate.out
    while (next < n && gates[next] === 0) next++
  }
  return next
}

/** The state of a row at which the rule is not active. */
function shutState({ gate, settled, guard }: RuleInstance, i: number): number {
  if (gate.out[i] === 0 || guard.out[i] === 0) return GATED
  return gate.out[i] === 1 && settled.out[i] === 0 ? SETTLING : MISSING
}

/** Adds the time of an interval to its outcome. The reason of missing data may change from row to row. */
function addTime(
  instance: RuleInstance,
  { t }: DayRows,
  start: number,
  end: number,
  state: number,
  coverage: OutcomeTimes,
  span: { from: number; to: number },
): void {
  const within = (from: number, to: number) => Math.max(0, Math.min(to, span.to) - Math.max(from, span.from))
  const ms = within(t[start]!, t[end]!)
  if (ms === 0) return
  if (state === TRUE || state === FALSE) coverage.evaluatedMs += ms
  else if (state === GATED) coverage.missedMs.gated += ms
  else if (state === SETTLING) coverage.missedMs.settling += ms
  else {
    const gates = instance.gate.out
    for (let i = start; i < end; i++) {
      const missed = within(t[i]!, t[i + 1]!)
      coverage.missedMs[reasonAt(instance, t[i]!)] += missed
      if (gates[i] === 1) coverage.openMs += missed
    }
  }
}

/** The first role without a usable value is the reason; if all have one, a window or baseline lacks history. */
function reasonAt({ leaves, rule, isTooCoarse }: RuleInstance, at: number): ResultReason {
  for (const steps of leaves) {
    const state = roleState(steps, at, rule.program.raw)
    if (state === 1) return 'no_data'
    if (state === 2) return 'stale'
    if (state === 3) return 'out_of_range'
    if (state === 4) return 'untrusted'
  }
  return isTooCoarse ? 'sampling' : 'insufficient_history'
}

const NOTHING = emptyWasteSums()

/** The worst moment of a true interval with its terms and figures, and the time of conditional causes. */
function describeTrueStretch(instance: RuleInstance, rows: DayRows, start: number, end: number): IntervalDetail {
  instance.graph.run(instance.evidenceOrder, rows)
  const { t } = rows
  const sides = (instance.terms.find(({ measures, sides }) => measures && sides) ?? instance.terms.find(({ sides }) => sides))
    ?.sides
  let worst = start
  let measure = 0
  if (sides) {
    const a = sides[0].out
    const b = sides[1].out
    for (let i = start; i < end; i++) {
      const excess = Math.abs(a[i]! - b[i]!)
      if (excess > measure) {
        measure = excess
        worst = i
      }
    }
  }
  const causeMs = new Float64Array(instance.causes.length)
  for (const [index, { when }] of instance.causes.entries()) {
    for (let i = start; i < end; i++) if (!when || when.out[i] === 1) causeMs[index] = causeMs[index]! + t[i + 1]! - t[i]!
  }
  const worstMoment = momentAt(instance, t[worst]!, worst, measure)
  return { worst: worstMoment, causeMs, spent: instance.meter ? sumWaste(instance.meter, t, start, end) : NOTHING }
}

/** Terms first, then figures, in the order that `evidence.ts` expects. */
function momentAt({ terms, figures }: RuleInstance, at: number, row: number, measure: number): WorstMoment {
  const nodes = [
    ...terms.map(({ node }) => node),
    ...figures.flatMap(part => (typeof part === 'object' && 'node' in part ? [part.node] : [])),
  ]
  return { at, measure, seen: Float64Array.from(nodes, node => node.out[row]!) }
}

/** One row a day: index of the day, evaluated time, missed time by reason, missed time with the gate open. */
export const DAY_TIMES_WIDTH = 3 + RESULT_REASONS.length

export function appendDayTimes(covered: number[], index: number, { evaluatedMs, missedMs, openMs }: OutcomeTimes): void {
  covered.push(index, evaluatedMs)
  for (const reason of RESULT_REASONS) covered.push(missedMs[reason])
  covered.push(openMs)
}

/** @param first index of the first day to add */
export function timesSince(parts: ArrayLike<number>[], first: number): OutcomeTimes {
  const sum = noTimes()
  for (const covered of parts) {
    for (let row = 0; row < covered.length; row += DAY_TIMES_WIDTH) {
      if (covered[row]! < first) continue
      sum.evaluatedMs += covered[row + 1]!
      for (let i = 0; i < RESULT_REASONS.length; i++) sum.missedMs[RESULT_REASONS[i]!] += covered[row + 2 + i]!
      sum.openMs += covered[row + DAY_TIMES_WIDTH - 1]!
    }
  }
  return sum
}

export function sumTimes(coverages: OutcomeTimes[]): OutcomeTimes {
  const sum = noTimes()
  for (const { evaluatedMs, missedMs, openMs } of coverages) {
    sum.evaluatedMs += evaluatedMs
    sum.openMs += openMs
    for (const reason of RESULT_REASONS) sum.missedMs[reason] += missedMs[reason]
  }
  return sum
}

/** Reasons for missing values other than a closed gate. */
export const OPEN_REASONS = RESULT_REASONS.filter(reason => !isGateClosed(reason))

/** A smaller share of the missed time, such as the start of windows or a moment without load, does not decide the reason. */
const WORTH_TELLING = 0.05

/**
 * The most frequent reason for missed time. Time with a closed gate comes first: a rule whose gate never opened lacks
 * nothing, even where the signal of the gate is missing at times. Missing data is the reason only where it was missing while
 * the gate was open, or where the gate was hardly ever closed.
 */
export function commonestReason({ missedMs, openMs }: OutcomeTimes): ResultReason | undefined {
  const timeOf = (reasons: readonly ResultReason[]) => reasons.reduce((sum, reason) => sum + missedMs[reason], 0)
  const total = timeOf(RESULT_REASONS)
  const shut = timeOf(GATE_CLOSED_REASONS)
  const isShutReason = shut > WORTH_TELLING * total && openMs <= WORTH_TELLING * total
  const candidates = isShutReason || shut === total ? GATE_CLOSED_REASONS : OPEN_REASONS
  const [first] = candidates.filter(reason => missedMs[reason] > 0).toSorted((a, b) => missedMs[b] - missedMs[a])
  return first
}
