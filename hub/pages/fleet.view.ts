/** Fleet: every edge with its session and data freshness, the worst first. */
import { diskLevel } from '#shared/core/disk-use.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type Building, edgeName } from '#shared/core/model/model.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { buildingHref } from '#shared/central/ui/links.ts'
import { DAY, formatDuration } from '#shared/core/time.ts'
import { versionText } from '#shared/central/ui/frame.ts'
import { formatCount } from '#shared/core/number-text.ts'
import { type Priority, PRIORITIES } from '#shared/core/findings/finding.ts'
import { priorityIcon, type State, stateIcon } from '#shared/central/ui/icons.ts'
import { formatAge, type Here, momentNow, momentOr } from '#shared/central/ui/moment.ts'
import { type ClaimsModel, claimsPart } from './claims.route.ts'
import { deleteEdgeForm } from './delete-edge.route.ts'
import { EDGE_STATUSES, type EdgeHealth, type EdgeStatus, FRESH_MS, type ReportedFigures } from './fleet-status.ts'

/** Interval at which the table refreshes itself; the page turns grey when refreshing stops. */
const REFRESH_SECS = 10
const CERTIFICATE_SOON = 60 * DAY
/** A clock offset above this puts events into the wrong order. */
const OFFSET_MAX_MS = 5000

export type FleetRow = {
  edge: EdgeRecord
  health: EdgeHealth
  reported: ReportedFigures
  building: Building | undefined
  open: Record<Priority, number>
  /** The edge is gone, and the reader may delete it. */
  deletable: boolean
}
type FleetCounts = { ingest_ok: number; ingest_duplicate: number; ingest_rejected: number; last_ingest_at: number | null }
export type FleetModel = {
  here: Here
  /** After the filter, the worst first. */
  rows: FleetRow[]
  total: number
  byStatus: Record<EdgeStatus, number>
  status: EdgeStatus | undefined
  counts: FleetCounts
  claims: ClaimsModel
}

const STATUS_WORDS: Record<EdgeStatus, string> = {
  operational: 'Operational',
  reduced: 'Reduced',
  disconnected: 'Disconnected',
  pending: 'Pending',
}
const STATUS_MARK: Record<EdgeStatus, State> = { operational: 'ok', reduced: 'stale', disconnected: 'down', pending: 'unknown' }

export const fleetBody = (model: FleetModel): Html => html`<h1>Fleet</h1>
${fleetPart(model)}`

/** The part that htmx reloads. */
export const fleetPart = (
  model: FleetModel,
): Html => html`<div id="fleet" hx-get="/fleet/part${query(model.status)}" hx-trigger="every ${REFRESH_SECS}s, refresh" hx-target="#fleet" hx-swap="outerMorph" data-refresh-secs="${REFRESH_SECS}">
${strip(model)}
${claimsPart(model.claims, model.here)}
${filter(model)}
${model.rows.length ? table(model) : nothing(model)}
<p class="as-of">As of ${momentNow(model.here)} <span class="feed" role="status"></span> <a href="/${query(model.status)}">Refresh</a></p>
<p class="muted">Data counts as fresh within ${formatDuration(FRESH_MS)}.</p>
</div>`

const query = (status: EdgeStatus | undefined) => (status ? `?status=${status}` : '')

const strip = ({ total, counts, here }: FleetModel): Html => html`<dl class="strip">
<div><dt>Edges</dt><dd>${formatCount(total)}</dd></div>
<div><dt>Messages stored</dt><dd>${formatCount(counts.ingest_ok)}</dd></div>
<div><dt>Duplicates</dt><dd>${formatCount(counts.ingest_duplicate)}</dd></div>
<div${counts.ingest_rejected > 0 && html` class="alarm"`}><dt>Rejected</dt><dd>${formatCount(counts.ingest_rejected)}</dd></div>
<div><dt>Last message</dt><dd>${momentOr(counts.last_ingest_at, here, 'none since start')}</dd></div>
</dl>`

const filter = ({ status, byStatus, total }: FleetModel): Html => html`<nav class="tabs" aria-label="Status of edges"><ul>
<li><a href="/"${status === undefined && html` aria-current="page"`}>All <span class="count">${total}</span></a></li>
${EDGE_STATUSES.map(
  choice =>
    html`<li><a href="/?status=${choice}"${choice === status && html` aria-current="page"`}>${STATUS_WORDS[choice]} <span class="count">${byStatus[choice]}</span></a></li>`,
)}</ul></nav>`

const nothing = ({ total, status }: FleetModel): Html =>
  html`<section class="card quiet-card"><h2>${total ? `No edge is ${STATUS_WORDS[status ?? 'pending'].toLowerCase()}.` : 'No edge has been enrolled yet.'}</h2></section>`

const table = ({ rows, here, claims }: FleetModel): Html => html`<table class="fleet">
<thead><tr><th scope="col">Edge</th><th scope="col">Status</th><th scope="col">Session</th><th scope="col">Last data</th><th scope="col">Faults</th><th scope="col">Backlog</th><th scope="col">Clock</th><th scope="col">Certificate</th><th scope="col">Version</th></tr></thead>
<tbody>${rows.map(row => edgeRow(row, here, claims.csrf))}</tbody></table>`

function edgeRow({ edge, health, reported, building, open, deletable }: FleetRow, here: Here, csrf: string): Html {
  const { edge_id, name, site_id, online, session_changed_at, last_data_at, version } = edge
  const faults = PRIORITIES.filter(priority => open[priority] > 0)
  const href = `/faults?${new URLSearchParams({ building: edge.building_id })}`
  return html`<tr id="edge-${edgeName(edge)}">
<td data-label="Edge" class="what"><div><strong>${name || edge_id}</strong><span class="muted"><code>${edge_id}</code>, site ${site_id}${building && html`, <a href="${buildingHref(building.building_id)}">${building.name}</a>`}</span> <a href="/edges/${encodeURIComponent(edge_id)}/overrides?${new URLSearchParams({ site_id })}">Overrides</a>${deletable && deleteEdgeForm(csrf, edge)}</div></td>
<td data-label="Status"><div>${stateIcon(STATUS_MARK[health.status], STATUS_WORDS[health.status])}<span class="muted">${health.reason}</span>${diskWarning(reported)}</div></td>
<td data-label="Session"><div>${online ? 'open' : 'closed'}${session_changed_at !== null && html` <span class="muted">for ${formatDuration(here.now - session_changed_at)}</span>`}</div></td>
<td data-label="Last data"><div>${momentOr(last_data_at, here, 'none yet')}</div></td>
<td data-label="Faults"><div>${faults.length ? html`<a class="by-priority" href="${href}">${faults.map(priority => html`<span class="p${priority}">${open[priority]} ${priorityIcon(priority)}</span>`)}</a>` : html`<a href="${href}">none open</a>`}</div></td>
<td data-label="Backlog"><div>${backlog(reported, here)}</div></td>
<td data-label="Clock"><div>${clock(reported)}</div></td>
<td data-label="Certificate"><div>${certificate(reported, here)}</div></td>
<td data-label="Version"><div>${version ? versionText(version) : 'not reported'}</div></td>
</tr>`
}

function diskWarning({ disk_used_percent: used }: ReportedFigures): Html | false {
  return used !== null && diskLevel(used) !== undefined && html`<strong>its disk is ${used} % full</strong>`
}

function backlog({ backlog_rows, backlog_oldest_at, dropped, thinned }: ReportedFigures, { now }: Here): Html | string {
  if (backlog_rows === null) return 'not reported'
  const oldest = backlog_oldest_at !== null && html` <span class="muted">oldest ${formatAge(backlog_oldest_at, now)}</span>`
  const downsampled = thinned !== null && thinned > 0 && html` <strong>${formatCount(thinned)} downsampled</strong>`
  const lost = dropped !== null && dropped > 0 && html` <strong>${formatCount(dropped)} dropped</strong>`
  return html`${backlog_rows === 0 ? 'none' : html`${formatCount(backlog_rows)}${oldest}`}${downsampled}${lost}`
}

function clock({ clock_offset_ms }: ReportedFigures): Html | string {
  if (clock_offset_ms === null) return 'not reported'
  const ahead = clock_offset_ms > 0 ? 'ahead' : 'behind'
  if (Math.abs(clock_offset_ms) < 1000) return 'within 1\u00a0s'
  const words = `${formatDuration(Math.abs(clock_offset_ms))} ${ahead}`
  return Math.abs(clock_offset_ms) > OFFSET_MAX_MS ? html`<strong>${words}</strong>` : words
}

function certificate({ cert_not_after }: ReportedFigures, { now }: Here): Html | string {
  if (cert_not_after === null) return 'not reported'
  const days = Math.floor((cert_not_after - now) / DAY)
  const words = days < 0 ? 'expired' : `${days} days left`
  return cert_not_after - now < CERTIFICATE_SOON ? html`<strong>${words}</strong>` : words
}
