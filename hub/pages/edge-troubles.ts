/** What is wrong with an edge that still sends, from the figures that it reports: conditions of alerts. */
import type { EdgeTrouble } from '#shared/core/alerts/alert.ts'
import { EDGE_LIMITS } from '#shared/core/alerts/edge-limits.ts'
import { edgeName } from '#shared/core/model/model.ts'
import { countOf } from '#shared/core/number-text.ts'
import type { EdgeClaims, EdgeRecord, EdgeRefusal } from '#shared/core/stores.ts'
import { formatDuration } from '#shared/core/time.ts'
import type { EdgeNotices } from '#shared/flow/ingest/edge-notices.ts'
import { edgeBacklogCourse, type ReportedFigures, reportedBy } from './fleet-status.ts'

/** @returns the troubles of an edge whose session is open, at the hub's time `now` */
export function edgeTroubles(edge: EdgeRecord, now: number): EdgeTrouble[] {
  const reported = reportedBy(edge.status_body)
  const found = [
    pollTrouble(edge, reported, now),
    backlogTrouble(edge, reported, now),
    clockTrouble(edge, reported, now),
    certificateTrouble(edge, reported, now),
    diskTrouble(edge, reported, now),
  ]
  return found.filter(one => one !== undefined)
}

function pollTrouble(
  edge: EdgeRecord,
  { poll_failures, clock_offset_ms }: ReportedFigures,
  now: number,
): EdgeTrouble | undefined {
  if (!poll_failures) return undefined
  const { running, devices_total, failing, device_ids } = poll_failures
  const title = `Edge ${edgeName(edge)} does not read devices`
  const trouble = { kind: 'poll' as const, title, priority: 2 as const }
  if (!running) return { ...trouble, detail: 'Its polling has stopped.', since: now, isRaised: true }
  const since = poll_failures.since === null ? now : poll_failures.since - (clock_offset_ms ?? 0)
  const more = failing > device_ids.length ? ` and ${failing - device_ids.length} more` : ''
  const limit = `An alert is raised after ${formatDuration(EDGE_LIMITS.poll.raiseMs)}.`
  const detail = `${failing} of ${countOf(devices_total, 'device')} cannot be read: ${device_ids.join(', ')}${more}. ${limit}`
  return { ...trouble, detail, since, isRaised: now - since >= EDGE_LIMITS.poll.raiseMs }
}

function backlogTrouble(edge: EdgeRecord, reported: ReportedFigures, now: number): EdgeTrouble | undefined {
  const { backlog_rows: rows, backlog_oldest_at, clock_offset_ms } = reported
  const { raiseMs, holdMs } = EDGE_LIMITS.backlog
  if (rows === null || backlog_oldest_at === null) return undefined
  const since = backlog_oldest_at - (clock_offset_ms ?? 0)
  const waits = now - since
  if (waits < holdMs) return undefined
  const falls = edgeBacklogCourse(reported, edge.online, now).state === 'falling'
  const limit = `An alert is raised beyond ${formatDuration(raiseMs)}, unless they become fewer.`
  const detail = `${countOf(rows, 'message')} wait to be sent, the oldest for ${formatDuration(waits)}. ${limit}`
  const title = `Edge ${edgeName(edge)} sends late`
  return { kind: 'backlog', title, priority: 2, detail, since, isRaised: waits >= raiseMs && !falls }
}

function clockTrouble(edge: EdgeRecord, { clock_offset_ms: offset }: ReportedFigures, now: number): EdgeTrouble | undefined {
  const { raiseMs, holdMs } = EDGE_LIMITS.clock
  if (offset === null || Math.abs(offset) < holdMs) return undefined
  const words = `Its clock is ${formatDuration(Math.abs(offset))} ${offset > 0 ? 'ahead of' : 'behind'} that of the hub.`
  const detail = `${words} An alert is raised beyond ${formatDuration(raiseMs)}.`
  const title = `Clock of edge ${edgeName(edge)} is wrong`
  return { kind: 'clock', title, priority: 2, detail, since: now, isRaised: Math.abs(offset) >= raiseMs }
}

function certificateTrouble(edge: EdgeRecord, { cert_not_after }: ReportedFigures, now: number): EdgeTrouble | undefined {
  const { raiseMs, urgentMs } = EDGE_LIMITS.certificate
  if (cert_not_after === null) return undefined
  const left = cert_not_after - now
  const isDue = edge.status_body['cert_renewal_due'] === true
  if (left >= raiseMs || (!isDue && left >= urgentMs)) return undefined
  const ends = left > 0 ? `It ends in ${formatDuration(left)}, and the edge is not heard after that.` : 'It has ended.'
  const detail = `${ends} An alert is raised below ${formatDuration(raiseMs)}.`
  const title = `Certificate of edge ${edgeName(edge)} is not renewed`
  return { kind: 'certificate', title, priority: left < urgentMs ? 1 : 2, detail, since: now, isRaised: true }
}

function diskTrouble(edge: EdgeRecord, { disk_used_percent: used }: ReportedFigures, now: number): EdgeTrouble | undefined {
  const { raise, hold, urgent } = EDGE_LIMITS.disk
  if (used === null || used < hold) return undefined
  const detail = `${used} % of its disk are used. An alert is raised at ${raise} %, and is over below ${hold} %.`
  const title = `Disk of edge ${edgeName(edge)} is nearly full`
  return { kind: 'disk', title, priority: used >= urgent ? 1 : 2, detail, since: now, isRaised: used >= raise }
}

/** @param silence when nothing came from an edge that sends again. @returns how long that was, and how much of what it kept has come */
export function edgeReturn(edge: EdgeRecord, silence: { from: number; to: number }, now: number): string {
  const { backlog_rows: rows, backlog_oldest_at, clock_offset_ms } = reportedBy(edge.status_body)
  const silent = `It was silent for ${formatDuration(silence.to - silence.from)} and sends again.`
  if (rows === null) return silent
  const oldest = backlog_oldest_at === null ? now : backlog_oldest_at - (clock_offset_ms ?? 0)
  if (rows === 0 || oldest >= silence.to) return `${silent} What it read meanwhile has come.`
  // It sends in the order in which it has read.
  const share = Math.max(0, (oldest - silence.from) / (silence.to - silence.from))
  return `${silent} ${Math.floor(share * 100)} % of that time has come; ${countOf(rows, 'message')} ${rows === 1 ? 'waits' : 'wait'} to be sent.`
}

/** @returns edges of which nothing is stored: two processes under one id, metadata that is refused, a budget that is used up */
export function edgeRefusals(
  claims: Pick<EdgeClaims, 'refusals'>,
  notices: Pick<EdgeNotices, 'heldBack'>,
  now: number,
): EdgeRefusal[] {
  const refused = claims.refusals()
  const names = new Set(refused.map(edgeName))
  const held = notices.heldBack().filter(edge => !names.has(edgeName(edge)))
  return [...refused, ...held.map(edge => ({ ...edge, since: now }))]
}
