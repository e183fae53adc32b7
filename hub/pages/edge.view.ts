/** The page of one edge: how its two connections are, what it reports of itself and of its building, and what can be done. */
import { FRESH_MS } from '#shared/core/telemetry/fresh-data.ts'
import { PRIORITIES } from '#shared/core/findings/finding.ts'
import { formatDuration } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField, type User, versionText } from '#shared/central/ui/frame.ts'
import { priorityIcon, stateIcon } from '#shared/central/ui/icons.ts'
import { buildingHref, edgeHref } from '#shared/central/ui/links.ts'
import { type Here, moment, momentNow, momentOr } from '#shared/central/ui/moment.ts'
import { type ClaimsModel, claimsPart } from './claims.route.ts'
import { edgeChecks } from './edge-checks.view.ts'
import { deleteEdgeForm } from './delete-edge.route.ts'
import {
  backlogWords,
  certificateWords,
  clockWords,
  diskWarning,
  edgeOverridesHref,
  edgeDiagnosticsHref,
  edgeLogHref,
  edgePartHref,
  misdatedWords,
  replaceBoxHref,
  STATUS_MARK,
  reportAge,
  stateAge,
  STATUS_WORDS,
} from './edge-words.ts'
import type { FleetRow } from './fleet.view.ts'
import { say, sayCount, sayCountOf } from '#shared/node/http/language.ts'

/** Interval at which the page refreshes itself, as the table of Fleet does. */
const REFRESH_SECS = 10

export type EdgePage = FleetRow & {
  here: Here
  /** Points that its building has by protocol. */
  points: { protocol: string; count: number }[]
  /** Other edges that report for the same building. */
  others: FleetRow['edge'][]
  /** Of this edge alone. */
  claims: ClaimsModel
  user: User | undefined
}

export const edgeBody = (model: EdgePage): Html => html`<p class="crumbs"><a href="/">Fleet</a></p>
<h1>${model.edge.name || model.edge.edge_id}</h1>
${edgePart(model)}`

/** The part that htmx reloads. */
export const edgePart = (
  model: EdgePage,
): Html => html`<div id="edge" hx-get="${edgePartHref(model.edge)}" hx-trigger="every ${REFRESH_SECS}s, refresh" hx-target="#edge" hx-swap="outerMorph" data-refresh-secs="${REFRESH_SECS}">
<p class="lead">${stateIcon(STATUS_MARK[model.health.status], STATUS_WORDS[model.health.status])}: ${model.health.reason}${stateAge(model.health, model.here)}. ${reportAge(model.edge, model.reported, model.here)}</p>
${claimsPart(model.claims, model.here)}
${connections(model)}
<div class="columns"><div>${edgeChecks(model)}${building(model)}</div><div>${actions(model)}</div></div>
<p class="as-of">As of ${momentNow(model.here)} <span class="feed" role="status"></span> <a href="${edgeHref(model.edge)}">Refresh</a></p>
<p class="muted">Data counts as fresh within ${formatDuration(FRESH_MS)}.</p>
</div>`

function connections({ edge, reported, misdated, here }: EdgePage): Html {
  const { edge_id, site_id, online, session_changed_at, last_seen_at, last_data_at, version, version_since } = edge
  const { cert_not_after, disk_used_percent } = reported
  const fact = (name: string, value: Html | string) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`
  return html`<dl class="facts">
${fact(say`Edge`, html`<code>${edge_id}</code> <span class="muted">of site ${site_id}</span>`)}
${fact(say`Session`, html`${online ? say`open` : say`closed`}${session_changed_at !== null && html` <span class="muted">since ${moment(session_changed_at, here)}</span>`}`)}
${fact(say`Last message`, momentOr(last_seen_at, here, say`none yet`))}
${fact(say`Last data`, momentOr(last_data_at, here, say`none yet`))}
${fact(say`Backlog`, backlogWords(reported, online, here))}
${fact(say`Clock`, clockWords(reported))}
${misdated && fact(say`Readings kept apart`, misdatedWords(misdated, edge, here))}
${fact(say`Certificate`, html`${certificateWords(reported, here)}${cert_not_after !== null && html` <span class="muted">until ${moment(cert_not_after, here)}</span>`}`)}
${fact(say`Storage`, disk_used_percent === null ? say`not reported` : diskWarning(reported) || say`${disk_used_percent} % of its disk used`)}
${fact(say`Version`, html`${version ? versionText(version) : say`not reported`}${version && version_since !== null && html` <span class="muted">since ${moment(version_since, here)}</span>`}`)}
</dl>`
}

function building({ edge, building: known, points, others, open, reported, here }: EdgePage): Html {
  const { building_id } = edge
  const faults = PRIORITIES.filter(priority => open[priority] > 0)
  return html`<section class="card"><h2>What it reports</h2><dl class="values">
<div><dt>Building</dt><dd>${known ? html`<a href="${buildingHref(building_id)}">${known.name}</a>` : html`<code>${building_id}</code>`}</dd></div>
<div><dt>Points of the building</dt><dd>${points.length === 0 ? say`none yet` : points.map(({ protocol, count }) => say`${sayCount(count)} by ${protocol}`).join(', ')}</dd></div>
<div><dt>Open faults</dt><dd><a class="by-priority" href="/faults?${new URLSearchParams({ building: building_id })}">${faults.length > 0 ? faults.map(priority => html`<span class="p${priority}">${open[priority]} ${priorityIcon(priority)}</span>`) : say`none`}</a></dd></div>
${edge.status_body['runs_rules'] === true && html`<div><dt>Last check for faults</dt><dd>${momentOr(reported.last_check_at, here, say`not reported`)}</dd></div>`}
</dl>${
    others.length > 0 &&
    html`<p>${sayCountOf(others.length, 'other edge')} of this building: ${others.map((one, i) => html`${i > 0 && ', '}<a href="${edgeHref(one)}">${one.name || one.edge_id}</a>`)}.</p>`
  }</section>`
}

function actions({ edge, user, deletable, claims }: EdgePage): Html {
  const isAdmin = user?.role === 'admin'
  return html`<section class="card"><h2>What can be done</h2><ul>
<li><a href="${edgeOverridesHref(edge)}">Overrides and their history</a>, read from the edge</li>
<li><a href="/mqtt">Messages</a> of the edges as they come</li>
<li><a href="/updates">Update</a> it, alone or with others</li>
${
  user?.mayOperate &&
  html`<li><a href="${replaceBoxHref(edge)}">Replace this box</a> by another that goes on under its name</li>
<li><a href="/enrol#certificates">Renew, reissue or revoke</a> its certificate</li>`
}
${isAdmin && html`<li><a href="${edgeLogHref(edge)}">Log</a>, read from the edge, and how much it logs</li>`}
</ul>${isAdmin && diagnosticsForm(edge, claims.csrf)}${deletable && deleteEdgeForm(claims.csrf, edge)}</section>`
}

const diagnosticsForm = (edge: FleetRow['edge'], csrf: string): Html =>
  html`<form method="post" action="${edgeDiagnosticsHref(edge)}">${csrfField(csrf)}
<p>Diagnostics are health, settings, log and machine as a ZIP, without readings and passwords. The edge makes it when it is asked.</p>
<button>Download diagnostics</button></form>`
