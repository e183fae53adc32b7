/** What becomes of earlier findings when a new run has looked at a span of time again. */
import type { Finding } from './finding.ts'
import type { Resumed, RunRecord } from './ports.ts'
import { HOUR } from './time.ts'

/** An episode that begins this early in a run's span may be one that the span's start has cut. */
const CUT_MS = HOUR

/**
 * An episode that began before the run's span cannot be found by that run under its own start, and so not under its own
 * id: what the run finds of it at the start of the span is its continuation. Episodes that began within the span and
 * are not found any more are gone. Where the run could not evaluate, it says nothing.
 *
 * @param earlier findings of the run's building that overlap `[run.from, run.to)`
 * @returns findings to insert or update, and the ids of those to remove
 */
export function reconcile(
  earlier: Finding[],
  found: Finding[],
  run: RunRecord,
  resumed?: Resumed,
): { put: Finding[]; remove: string[] } {
  const looked = new Set(run.results.map(pairOf))
  const judged = new Set(run.results.filter(({ status }) => status !== 'not_evaluated').map(pairOf))
  const ids = new Set(found.map(({ finding_id }) => finding_id))
  const put = new Map(found.map(finding => [finding.finding_id, finding]))
  const remove: string[] = []
  for (const old of earlier) {
    if (ids.has(old.finding_id)) continue
    if (resumed && old.confirmed_at >= resumed.since && resumed.equipment_ids.has(old.equipment_id)) {
      if (looked.has(pairOf(old))) remove.push(old.finding_id)
      continue
    }
    const rest = old.from < run.from ? continuation(old, found, run) : undefined
    if (rest) {
      put.delete(rest.finding_id)
      put.set(old.finding_id, joined(old, rest, run))
    } else if (judged.has(pairOf(old))) {
      if (old.from >= run.from) remove.push(old.finding_id)
      else if (old.to === null) put.set(old.finding_id, endedAt(old, run.from))
    }
  }
  return { put: [...put.values()], remove }
}

const pairOf = ({ rule_id, equipment_id }: { rule_id: string; equipment_id: string }) => `${rule_id}\n${equipment_id}`

/** What the run found of an episode that began before its span: the first that begins while the episode lasted. */
function continuation(old: Finding, found: Finding[], run: RunRecord): Finding | undefined {
  const until = old.to ?? run.from + CUT_MS
  return found
    .filter(finding => pairOf(finding) === pairOf(old) && finding.role === old.role && finding.from <= until)
    .reduce<Finding | undefined>((first, next) => (first && first.from <= next.from ? first : next), undefined)
}

/**
 * The whole episode: it keeps its id, its start and the worst moment that was shown; all else is as found last. Of its
 * duration, what was known counts before the span, and what was found within it.
 */
function joined(old: Finding, rest: Finding, run: RunRecord): Finding {
  const { finding_id, from, confirmed_at, evidence } = old
  const duration_secs = Math.min(old.duration_secs, (run.from - from) / 1000) + rest.duration_secs
  return { ...rest, finding_id, from, confirmed_at, evidence, duration_secs }
}

function endedAt(old: Finding, to: number): Finding {
  return { ...old, to, state: 'cleared', duration_secs: Math.min(old.duration_secs, (to - old.from) / 1000) }
}
