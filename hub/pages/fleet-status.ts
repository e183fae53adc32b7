/** The status of an edge, from two independent signals (session and data freshness), and the figures that it reports. */
import { usedPercent } from '#shared/core/disk-use.ts'
import { type BacklogCourse, backlogCourse } from '#shared/core/telemetry/backlog.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import type { PollFailures } from '#shared/core/telemetry/poll-report.ts'
import { SHARED_MS } from '#shared/core/telemetry/shared-edge-id.ts'
import { checkedAt } from '#shared/core/telemetry/status.ts'
import { FRESH_MS, isFresh } from '#shared/core/telemetry/fresh-data.ts'
import { parseInstant } from '#shared/core/time.ts'
import { say } from '#shared/node/http/language.ts'

export const EDGE_STATUSES = ['disconnected', 'reduced', 'pending', 'operational'] as const
export type EdgeStatus = (typeof EDGE_STATUSES)[number]

/** `since`: when it came to be so, ms since 1970 UTC; undefined where that is not known. */
export type EdgeHealth = { status: EdgeStatus; reason: string; since?: number }

/** An edge is operational only with an open session and fresh data; with one of the two it is reduced. */
export function healthOf(
  { online, last_data_at, fresh_since, session_changed_at, status_body }: EdgeRecord,
  now: number,
): EdgeHealth {
  const shared = sharedOf(fieldsOf(status_body['shared']))
  if (shared && now - shared.last_at <= SHARED_MS) {
    const reason = say`${shared.processes} processes use this edge id, so nothing of them is stored: give each appliance its own`
    return { status: 'reduced', reason, since: shared.since }
  }
  if (session_changed_at === null && last_data_at === null) return { status: 'pending', reason: say`has never connected` }
  const fresh = isFresh(last_data_at, now)
  if (online && fresh) {
    const both = fresh_since !== null && session_changed_at !== null && { since: Math.max(fresh_since, session_changed_at) }
    return { status: 'operational', reason: say`session open, data fresh`, ...both }
  }
  const changes = [...(session_changed_at === null ? [] : [session_changed_at]), ...(fresh ? [] : staleFrom(last_data_at))]
  const since = changes.length > 0 && { since: Math.max(...changes) }
  if (online) {
    const reason = last_data_at === null ? say`session open, no data yet` : say`session open, data old`
    return { status: 'reduced', reason, ...since }
  }
  if (fresh) return { status: 'reduced', reason: say`data fresh, session closed`, ...since }
  const reason = last_data_at === null ? say`session closed, no data yet` : say`session closed, data old`
  return { status: 'disconnected', reason, ...since }
}

const staleFrom = (last_data_at: number | null): number[] => (last_data_at === null ? [] : [last_data_at + FRESH_MS])

/** Figures of the edge's last status message; null where a figure is missing or invalid. */
export type ReportedFigures = {
  backlog_rows: number | null
  backlog_oldest_at: number | null
  /** Messages by which the backlog falls in a minute, negative while it grows. */
  backlog_drain_per_min: number | null
  /** When it said this, by the hub's clock, ms since 1970 UTC. */
  sent_at: number | null
  clock_offset_ms: number | null
  cert_not_after: number | null
  /** When its newest run of the rules ended, by the hub's clock. */
  last_check_at: number | null
  /** Messages that the edge dropped since its start because its outbox was full. */
  dropped: number | null
  /** Messages downsampled to one value per point and 15 min since its start because its outbox was full. */
  thinned: number | null
  /** How full the disk of the edge is, whole percent. */
  disk_used_percent: number | null
  /** Other processes that used the same edge id, as the hub observed. */
  shared: { processes: number; since: number; last_at: number } | null
  /** Devices that it does not read, as the hub took from its report. */
  poll_failures: PollFailures | null
}

/** Reads a status message; it is untrusted, so every field is checked. */
export function reportedBy(body: Record<string, unknown>): ReportedFigures {
  const backlog = fieldsOf(body['backlog'])
  return {
    backlog_rows: numberOf(backlog['rows']),
    backlog_oldest_at: instantOf(backlog['oldest_at']),
    backlog_drain_per_min: numberOf(backlog['drain_per_min']),
    sent_at: sentAt(body),
    clock_offset_ms: numberOf(body['clock_offset_ms']),
    cert_not_after: instantOf(body['cert_not_after']),
    last_check_at: checkedAt(body),
    dropped: numberOf(body['dropped']),
    thinned: numberOf(body['thinned']),
    disk_used_percent: diskOf(fieldsOf(body['disk'])),
    shared: sharedOf(fieldsOf(body['shared'])),
    // The hub's own: what an edge says under this name is not stored.
    poll_failures: (body['poll_failures'] as PollFailures | undefined) ?? null,
  }
}

function sentAt(body: Record<string, unknown>): number | null {
  const at = instantOf(body['sent_at'])
  return at === null ? null : instantOf(at - (numberOf(body['clock_offset_ms']) ?? 0))
}

/** An edge whose session is closed may have sent more, or nothing, since it last said how its backlog goes. */
export function edgeBacklogCourse(
  { backlog_rows, backlog_drain_per_min, sent_at }: ReportedFigures,
  isOnline: boolean,
  now: number,
): BacklogCourse {
  if (!isOnline || backlog_rows === null) return { state: 'unknown' }
  const isRecent = sent_at !== null && Math.abs(now - sent_at) < FRESH_MS
  return backlogCourse(backlog_rows, backlog_drain_per_min, isRecent ? sent_at : now)
}

function diskOf(disk: Record<string, unknown>): number | null {
  const [free_bytes, total_bytes] = [numberOf(disk['free_bytes']), numberOf(disk['total_bytes'])]
  if (free_bytes === null || total_bytes === null || free_bytes < 0 || free_bytes > total_bytes) return null
  return usedPercent({ free_bytes, total_bytes })
}

function sharedOf({ boot_ids, ...times }: Record<string, unknown>): ReportedFigures['shared'] {
  const [since, last_at] = [instantOf(times['since']), instantOf(times['last_at'])]
  if (!Array.isArray(boot_ids) || since === null || last_at === null) return null
  return { processes: boot_ids.length, since, last_at }
}

const fieldsOf = (value: unknown) => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {})
const numberOf = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : null)

/** Largest instant that a date can hold, ms. */
const INSTANT_MAX = 8.64e15

function instantOf(value: unknown): number | null {
  const ms = typeof value === 'string' ? (parseInstant(value) ?? null) : numberOf(value)
  return ms !== null && Math.abs(ms) <= INSTANT_MAX ? ms : null
}
