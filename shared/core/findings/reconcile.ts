/** Reconciles earlier findings with those of a new run over the same time. */
import { addStretch, stretchesOf, stretchesWithin, trueMsOf } from './fault-time.ts'
import { type Ending, type Finding, isEvaluated } from './finding.ts'
import type { Looked, Resumed, RunRecord } from '#shared/core/ports.ts'
import { LAPSE_MS } from '#shared/core/rules/episodes/episodes.ts'
import { HOUR } from '#shared/core/time.ts'

/** An episode that begins this early in a run's span may have been cut by its start. */
const CUT_MS = HOUR

/**
 * An episode that began before the run's span cannot be found by that run under its own start, and so not under its own id:
 * what the run finds of it at the start of the span is its continuation. Episodes that began within the span and are not
 * found any more are removed. Where the run could not evaluate, findings stay, until nothing has been evaluated for as long
 * as ends an episode. A finding whose rule is retired, or no longer applies to the same samples since it was changed, ends
 * where it was last evaluated, with the reason. A run over a past span does not end findings that continue after it and that
 * an earlier run has evaluated.
 *
 * @param earlier findings of the run's building that overlap `[run.from, run.to)`
 * @param lookedAt how far earlier runs have evaluated a rule on an equipment; undefined when none has
 * @param resumed given for a run of all rules over all equipment
 * @returns findings to insert or update, and the ids of those to remove
 */
export function reconcile(
  earlier: Finding[],
  found: Finding[],
  run: RunRecord,
  lookedAt: (pair: Pair) => Looked | undefined,
  resumed?: Resumed,
): { put: Finding[]; remove: string[] } {
  const evaluatedPairs = new Set(run.results.map(pairOf))
  const decidedPairs = new Set(run.results.filter(({ status }) => status !== 'not_evaluated').map(pairOf))
  const known = new Map(earlier.map(old => [old.finding_id, old]))
  const ids = new Set(found.map(({ finding_id }) => finding_id))
  const continuesAfter = (one: Finding): boolean => !resumed && isOpenAt(one, run.to) && isPassed(lookedAt(one), run)
  const put = new Map(found.map(finding => [finding.finding_id, asKnown(finding, known.get(finding.finding_id))]))
  const remove: string[] = []
  const endings = resumed ? endingsIn(run, resumed, lookedAt) : () => undefined
  for (const old of earlier) {
    const ended = endedByRun(old)
    if (ended) put.set(old.finding_id, ended)
    else if (!ids.has(old.finding_id)) settle(old)
  }
  return { put: [...put.values()], remove }

  /** The finding with the reason why its rule is no longer evaluated, unless this run saw samples in fault. */
  function endedByRun(old: Finding): Finding | undefined {
    const again = put.get(old.finding_id)
    const ended = old.to === null && (!again || isOnlyCarried(again)) ? endings(old) : undefined
    return ended && { ...endedAt(old, Math.min(lastEvaluated(old), run.to)), ended }
  }

  /** Decides on a finding that this run has not found under its own id. */
  function settle(old: Finding): void {
    const pair = pairOf(old)
    // A run that ends before the days that showed it cannot find it.
    if (old.hindsight && old.confirmed_at > run.to) return
    if (resumed && isEvaluatedAgain(old, run, resumed)) {
      if (evaluatedPairs.has(pair)) remove.push(old.finding_id)
      return
    }
    const rest = old.from < run.from && !old.hindsight ? continuation(old, found, run) : undefined
    if (rest) continueWith(old, rest)
    else if (decidedPairs.has(pair)) endAtStart(old)
    else if (resumed && old.to === null && run.to - lastEvaluated(old) >= LAPSE_MS) {
      put.set(old.finding_id, endedAt(old, lastEvaluated(old)))
    }
  }

  function continueWith(old: Finding, rest: Finding): void {
    put.delete(rest.finding_id)
    put.set(old.finding_id, rest.to === null && continuesAfter(old) ? old : joined(old, rest, run))
  }

  /** For a finding whose rule was evaluated over the span without finding it: nothing of it lies within the span. */
  function endAtStart(old: Finding): void {
    if (continuesAfter(old)) return
    if (old.from >= run.from) remove.push(old.finding_id)
    else if (old.to === null) put.set(old.finding_id, endedAt(old, run.from))
  }

  function lastEvaluated(old: Finding): number {
    return Math.max(lookedAt(old)?.evaluated_to ?? -Infinity, old.confirmed_at)
  }

  /** Takes over from the earlier finding what only that run could know: its continuation and its evidence. */
  function asKnown(finding: Finding, old: Finding | undefined): Finding {
    if (finding.to === null && continuesAfter(finding)) return old ?? { ...finding, to: run.to, state: 'cleared' }
    return old && isOnlyCarried(finding) ? { ...finding, evidence: old.evidence, cause: old.cause } : finding
  }
}

type Pair = { rule_id: string; equipment_id: string }

/** @returns why a pair is no longer evaluated, for a run of all rules over all equipment; undefined when that may be temporary */
function endingsIn(
  { results, rule_ids, failed, started_at: at }: RunRecord,
  { retired }: Resumed,
  lookedAt: (pair: Pair) => Looked | undefined,
): (pair: Pair) => Ending | undefined {
  const said = new Map(results.map(result => [pairOf(result), result]))
  const ran = new Set(rule_ids)
  const failing = new Set(failed.map(({ rule_id }) => rule_id))
  return pair => {
    const gone = retired?.(pair.rule_id)
    if (gone) return gone
    const result = said.get(pairOf(pair))
    if (!result) return ran.has(pair.rule_id) && !failing.has(pair.rule_id) ? { why: 'not_for_equipment', at } : undefined
    if (isEvaluated(result)) return undefined
    const before = lookedAt(pair)?.evaluated_as
    if (before !== undefined && result.version !== undefined && before !== result.version) return { why: 'rule_changed', at }
    return result.reason === 'missing_role' ? { why: 'point_unmapped', at } : undefined
  }
}
const isOpenAt = ({ to }: Finding, at: number): boolean => to === null || to > at

/** Whether history after the run's span has been evaluated already; evaluations under a clock that was fast do not count. */
const isPassed = (looked: Looked | undefined, run: RunRecord): boolean =>
  looked !== undefined && looked.looked_to > run.to && looked.looked_to <= run.started_at

/** Whether the run has evaluated all data again from which an earlier one confirmed the finding. */
const isEvaluatedAgain = (old: Finding, run: RunRecord, { since, equipment_ids }: Resumed): boolean =>
  old.confirmed_at >= since && (old.from >= run.from || equipment_ids.has(old.equipment_id))

/** Whether a finding was only carried over, without any sample in fault. */
const isOnlyCarried = ({ evidence: { terms, inputs } }: Finding): boolean =>
  terms.every(({ holds }) => holds === null) && Object.values(inputs).every(value => value === null)

const pairOf = ({ rule_id, equipment_id }: Pair) => `${rule_id}\n${equipment_id}`

/** The continuation of an episode that began before the span: the first finding that begins while the episode lasted. */
function continuation(old: Finding, found: Finding[], run: RunRecord): Finding | undefined {
  const until = old.to ?? run.from + CUT_MS
  return found
    .filter(
      finding => pairOf(finding) === pairOf(old) && finding.role === old.role && !finding.hindsight && finding.from <= until,
    )
    .reduce<Finding | undefined>((first, next) => (first && first.from <= next.from ? first : next), undefined)
}

/**
 * The whole episode: its id, start and worst moment are unchanged; the rest is that of the continuation.
 * Its duration is the earlier one before the span and the new one within it.
 */
function joined(old: Finding, rest: Finding, run: RunRecord): Finding {
  const { finding_id, from, confirmed_at, evidence } = old
  const before = endedAt(old, run.from)
  const duration_secs = before.duration_secs + rest.duration_secs
  const whole = { ...rest, finding_id, from, confirmed_at, evidence, duration_secs }
  if (!rest.stretches) return whole
  const stretches = [...stretchesOf(before, run.from)]
  for (const stretch of rest.stretches) addStretch(stretches, stretch)
  return { ...whole, stretches }
}

function endedAt(old: Finding, to: number): Finding {
  const ended: Finding = { ...old, to, state: 'cleared', duration_secs: Math.min(old.duration_secs, (to - old.from) / 1000) }
  if (!old.stretches) return ended
  const stretches = stretchesWithin(old.stretches, old.from, to)
  return { ...ended, duration_secs: Math.round(trueMsOf(stretches) / 1000), stretches }
}
