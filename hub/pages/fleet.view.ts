/** Fleet: every edge with its session and data freshness, the worst first. */
import { FRESH_MS } from '#shared/core/telemetry/fresh-data.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type Building, edgeName } from '#shared/core/model/model.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import type { MisdatedNews } from '#shared/flow/ingest/edge-notices.ts'
import { buildingHref, edgeHref } from '#shared/central/ui/links.ts'
import { formatDuration } from '#shared/core/time.ts'
import { type Priority, PRIORITIES } from '#shared/core/findings/finding.ts'
import { type ListPart, listSearch, pager, SEARCHED_FROM } from '#shared/central/ui/pager.ts'
import { priorityIcon, stateIcon } from '#shared/central/ui/icons.ts'
import { type Here, momentNow, momentOr } from '#shared/central/ui/moment.ts'
import { type ClaimsModel, claimsPart } from './claims.route.ts'
import { deleteEdgeForm } from './delete-edge.route.ts'
import {
  backlogWords,
  certificateWords,
  clockWords,
  diskWarning,
  edgeOverridesHref,
  misdatedShort,
  STATUS_MARK,
  reportAge,
  stateAge,
  STATUS_WORDS,
  versionWords,
} from './edge-words.ts'
import type { OtherHub } from '../cluster/hub-list.ts'
import { otherHubsPart } from './other-hubs.ts'
import { EDGE_STATUSES, type EdgeHealth, type EdgeStatus, type ReportedFigures } from './fleet-status.ts'
import { say, sayCount, words } from '#shared/node/http/language.ts'

/** Interval at which the table refreshes itself; the page turns grey when refreshing stops. */
const REFRESH_SECS = 10

export type FleetRow = {
  edge: EdgeRecord
  health: EdgeHealth
  reported: ReportedFigures
  building: Building | undefined
  /** What came from it with times that cannot be right; undefined where nothing did within an hour. */
  misdated: MisdatedNews | undefined
  open: Record<Priority, number>
  /** The edge is gone, and the reader may delete it. */
  deletable: boolean
}
type FleetCounts = { ingest_ok: number; ingest_duplicate: number; ingest_rejected: number; last_ingest_at: number | null }
export type FleetModel = {
  here: Here
  /** After filter and search, the worst first. */
  part: ListPart<FleetRow>
  /** Of all edges, and of those that the search finds. */
  total: number
  found: number
  q: string
  byStatus: Record<EdgeStatus, number>
  status: EdgeStatus | undefined
  counts: FleetCounts
  claims: ClaimsModel
  otherHubs: OtherHub[]
}

export const fleetBody = (model: FleetModel): Html => html`<h1>Fleet</h1>
${(model.total > SEARCHED_FROM || model.q !== '') && listSearch({ path: '/', state: { status: model.status }, q: model.q, label: say`Edge, site or building contains` })}
${fleetPart(model)}`

/** The part that htmx reloads. */
export const fleetPart = (
  model: FleetModel,
): Html => html`<div id="fleet" hx-get="/fleet/part${query({ ...model, page: model.part.page })}" hx-trigger="every ${REFRESH_SECS}s, refresh" hx-target="#fleet" hx-swap="outerMorph" data-refresh-secs="${REFRESH_SECS}">
${strip(model)}
${claimsPart(model.claims, model.here)}
${filter(model)}
${model.part.rows.length ? table(model) : nothing(model)}
${pager(model.part, page => `/${query({ ...model, page })}`)}
${otherHubsPart(model.otherHubs, model.here)}
<p class="as-of">As of ${momentNow(model.here)} <span class="feed" role="status"></span> <a href="/${query({ ...model, page: model.part.page })}">Refresh</a></p>
<p class="muted">Data counts as fresh within ${formatDuration(FRESH_MS)}.</p>
</div>`

/** The query of a choice; empty for the first page of all. */
function query({ status, q, page = 1 }: Pick<FleetModel, 'status' | 'q'> & { page?: number }): string {
  const given = { ...(status && { status }), ...(q !== '' && { q }), ...(page > 1 && { page: String(page) }) }
  const text = new URLSearchParams(given).toString()
  return text === '' ? '' : `?${text}`
}

const strip = ({ total, counts, here }: FleetModel): Html => html`<dl class="strip">
<div><dt>Edges</dt><dd>${sayCount(total)}</dd></div>
<div><dt>Messages stored</dt><dd>${sayCount(counts.ingest_ok)}</dd></div>
<div><dt>Duplicates</dt><dd>${sayCount(counts.ingest_duplicate)}</dd></div>
<div${counts.ingest_rejected > 0 && html` class="alarm"`}><dt>Rejected</dt><dd>${sayCount(counts.ingest_rejected)}</dd></div>
<div><dt>Last message</dt><dd>${momentOr(counts.last_ingest_at, here, say`none since start`)}</dd></div>
</dl>`

const filter = ({ status, byStatus, found, q }: FleetModel): Html => html`<nav class="tabs" aria-label="Status of edges"><ul>
<li><a href="/${query({ status: undefined, q })}"${status === undefined && html` aria-current="page"`}>All <span class="count">${found}</span></a></li>
${EDGE_STATUSES.map(
  choice =>
    html`<li><a href="/${query({ status: choice, q })}"${choice === status && html` aria-current="page"`}>${STATUS_WORDS[choice]} <span class="count">${byStatus[choice]}</span></a></li>`,
)}</ul></nav>`

const NONE_WORDS: Record<EdgeStatus, string> = words({
  operational: 'No edge is operational.',
  reduced: 'No edge is reduced.',
  disconnected: 'No edge is disconnected.',
  pending: 'No edge is pending.',
})

const nothing = ({ total, status, q }: FleetModel): Html =>
  html`<section class="card quiet-card"><h2>${q !== '' ? say`No edge contains “${q}”.` : total ? NONE_WORDS[status ?? 'pending'] : say`No edge has been enrolled yet.`}</h2>
${q === '' && total === 0 && html`<p>An admin makes the kit of a box on the page <a href="/enrol">Enrol</a>, or accepts a box there that asks for its certificate.</p>`}</section>`

const table = ({ part, here, claims }: FleetModel): Html => html`<table class="fleet">
<thead><tr><th scope="col">Edge</th><th scope="col">Status</th><th scope="col">Session</th><th scope="col">Last data</th><th scope="col">Faults</th><th scope="col">Backlog</th><th scope="col">Clock</th><th scope="col">Certificate</th><th scope="col">Version</th></tr></thead>
<tbody>${part.rows.map(row => edgeRow(row, here, claims.csrf))}</tbody></table>`

function edgeRow({ edge, health, reported, building, misdated, open, deletable }: FleetRow, here: Here, csrf: string): Html {
  const { edge_id, name, site_id, online, session_changed_at, last_data_at } = edge
  const faults = PRIORITIES.filter(priority => open[priority] > 0)
  const href = `/faults?${new URLSearchParams({ building: edge.building_id })}`
  return html`<tr id="edge-${edgeName(edge)}">
<td data-label="Edge" class="what"><div><strong><a href="${edgeHref(edge)}">${name || edge_id}</a></strong><span class="muted"><code>${edge_id}</code>, site ${site_id}${building && html`, <a href="${buildingHref(building.building_id)}">${building.name}</a>`}</span> <a href="${edgeOverridesHref(edge)}">Overrides</a>${deletable && deleteEdgeForm(csrf, edge)}</div></td>
<td data-label="Status"><div>${stateIcon(STATUS_MARK[health.status], STATUS_WORDS[health.status])}<span class="muted">${health.reason}${stateAge(health, here)}</span>${diskWarning(reported)}${reportAge(edge, reported, here)}</div></td>
<td data-label="Session"><div>${online ? say`open` : say`closed`}${session_changed_at !== null && html` <span class="muted">for ${formatDuration(here.now - session_changed_at)}</span>`}</div></td>
<td data-label="Last data"><div>${momentOr(last_data_at, here, say`none yet`)}</div></td>
<td data-label="Faults"><div>${faults.length ? html`<a class="by-priority" href="${href}">${faults.map(priority => html`<span class="p${priority}">${open[priority]} ${priorityIcon(priority)}</span>`)}</a>` : html`<a href="${href}">none open</a>`}</div></td>
<td data-label="Backlog"><div>${backlogWords(reported, online, here, true)}</div></td>
<td data-label="Clock"><div>${clockWords(reported)}${misdated && misdatedShort(misdated)}</div></td>
<td data-label="Certificate"><div>${certificateWords(reported, here)}</div></td>
<td data-label="Version"><div>${versionWords(edge, here)}</div></td>
</tr>`
}
