/** Records as the API shows them: instants in RFC 3339, and what people said beside what a run found. */
import type { ShownNote } from '#shared/core/findings/snooze.ts'
import type { FaultStretch, Finding } from '#shared/core/findings/finding.ts'
import { urgencyOf } from '#shared/core/findings/urgency.ts'
import { Problem } from '#shared/core/problem.ts'
import type { RunSummary } from '#shared/core/ports.ts'
import type { RunEntry } from '#shared/core/stores.ts'
import { formatInstant, parseInstant } from '#shared/core/time.ts'
import type { LiveRun } from '#shared/central/fdd/live-runs.ts'

export const instantOrNull = (ms: number | null): string | null => (ms === null ? null : formatInstant(ms))

/** Reads an instant of a request. @throws Problem bad_request that names the field */
export function readInstant(field: string, text: string): number
export function readInstant(field: string, text: string | undefined): number | undefined
export function readInstant(field: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = parseInstant(text)
  if (ms !== undefined) return ms
  const message = `${field} takes an instant such as 2026-03-01T05:00:00Z`
  throw new Problem('bad_request', message, [{ pointer: `/${field}`, message }])
}

/** The results of a run. */
export function findingFields({ evidence, waste: _waste, stretches, ...finding }: Finding) {
  return {
    ...finding,
    from: formatInstant(finding.from),
    to: instantOrNull(finding.to),
    confirmed_at: formatInstant(finding.confirmed_at),
    ...(finding.ended && { ended: { ...finding.ended, at: formatInstant(finding.ended.at) } }),
    ...(finding.hindsight && { hindsight: { normal_from: formatInstant(finding.hindsight.normal_from) } }),
    ...(stretches && { stretches: stretches.map(stretchView) }),
    evidence: { ...evidence, worst_at: formatInstant(evidence.worst_at) },
  }
}

const stretchView = ([from, to, trueMs]: FaultStretch) => ({
  from: formatInstant(from),
  to: formatInstant(to),
  true_secs: Math.round(trueMs / 1000),
})

/** @param now what is urgent depends on it, ms */
export function findingView(finding: Finding, note: ShownNote, now: number) {
  const { ack, snoozed_until, snooze_reason, snooze_scope, snoozed_by, note: text, assignee, not_a_fault } = note
  return {
    ...findingFields(finding),
    urgency: urgencyOf(finding, now) ?? null,
    ack,
    ...(snoozed_until !== undefined && { snoozed_until: formatInstant(snoozed_until) }),
    ...(snooze_reason !== undefined && { snooze_reason }),
    ...(snooze_scope !== undefined && { snooze_scope }),
    ...(snoozed_by !== undefined && { snoozed_by }),
    ...(text !== undefined && { note: text }),
    ...(assignee !== undefined && { assignee }),
    ...(not_a_fault !== undefined && { not_a_fault }),
    overrides: [],
  }
}

/** A run in whatever state: what is known of it, how far it is, and what it stored when it is done. */
export function runStateView({ run, record, progress }: RunEntry & Partial<LiveRun>) {
  return {
    ...(record && runView(record)),
    ...run,
    asked_at: formatInstant(run.asked_at),
    started_at: instantOrNull(run.started_at),
    finished_at: instantOrNull(run.finished_at),
    ...progress,
  }
}

/** A run without its results, which have a route of their own. */
export function runView({ failed, counts, ...run }: RunSummary) {
  return {
    ...run,
    started_at: formatInstant(run.started_at),
    finished_at: formatInstant(run.finished_at),
    from: formatInstant(run.from),
    to: formatInstant(run.to),
    failed,
    counts,
  }
}
