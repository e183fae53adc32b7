/** The page of the audit log: who changed what, and when. */
import type { Building } from '#shared/core/model/model.ts'
import type { StoredAuditRow } from '#shared/core/stores.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { loginRole } from '#shared/central/ui/words.ts'
import { say } from '#shared/node/http/language.ts'

type AuditQuery = { actor?: string; action?: string; building_id?: string; from?: string; to?: string }
type AuditModel = {
  query: AuditQuery
  rows: StoredAuditRow[]
  /** Of the next page; undefined on the last one. */
  cursor: string | undefined
  isFirst: boolean
  /** Choices of the filter. */
  actors: string[]
  actions: string[]
  buildings: Building[]
  here: Here
}

export const auditBody = (model: AuditModel): Html => html`<h1>Audit</h1>
<p class="lead">Who changed what, newest first. Refused sign-ins are counted in one row for each name and network.</p>
${filterForm(model)}
<section class="card">${model.rows.length > 0 ? rowTable(model) : html`<p>No row${Object.values(model.query).some(Boolean) && say` of this filter`}.</p>`}
<p>${!model.isFirst && html`<a href="/audit?${parametersOf(model.query)}">Newest</a> `}${
  model.cursor !== undefined && html`<a href="/audit?${parametersOf({ ...model.query, after: model.cursor })}">Older</a> `
}<a href="/audit.csv?${parametersOf(model.query)}">CSV of all rows</a></p></section>`

/** Blank fields are left out. */
const parametersOf = (query: object): string =>
  String(new URLSearchParams(Object.entries(query).filter((entry): entry is [string, string] => Boolean(entry[1]))))

const filterForm = ({
  query,
  actors,
  actions,
  buildings,
}: AuditModel): Html => html`<form class="filter" method="get" action="/audit">
${select('actor', say`Person`, query.actor, actors)}
${select('action', say`Action`, query.action, actions)}
${
  buildings.length > 0 &&
  html`<label>Building <select name="building_id"><option value="">all</option>${buildings.map(
    ({ building_id, name }) =>
      html`<option value="${building_id}"${building_id === query.building_id && html` selected`}>${name}</option>`,
  )}</select></label>`
}
<label>From <input type="date" name="from" value="${query.from ?? ''}"></label>
<label>Through <input type="date" name="to" value="${query.to ?? ''}"></label>
<button>Show</button></form>`

const select = (name: string, label: string, chosen: string | undefined, values: string[]): Html =>
  html`<label>${label} <select name="${name}"><option value="">all</option>${values.map(
    value => html`<option${value === chosen && html` selected`}>${value}</option>`,
  )}</select></label>`

const rowTable = ({ rows, buildings, here }: AuditModel): Html => {
  const names = new Map(buildings.map(({ building_id, name }) => [building_id, name]))
  return html`<table class="tried"><thead><tr><th scope="col">When</th><th scope="col">Who</th><th scope="col">Action</th><th scope="col">What</th><th scope="col">Change</th></tr></thead>
<tbody>${rows.map(
    ({ at, actor, role, action, subject, building_id, before, after }) => html`<tr>
<td data-label="When"><div>${moment(at, here)}</div></td>
<td data-label="Who"><div>${actor}${role !== actor && html` <span class="muted">${loginRole(role)}</span>`}</div></td>
<td data-label="Action"><div><code>${action}</code></div></td>
<td data-label="What"><div>${subject}${building_id !== null && html` <span class="muted">${names.get(building_id) ?? building_id}</span>`}</div></td>
<td data-label="Change"><div>${changeOf(before, after)}</div></td></tr>`,
  )}</tbody></table>`
}

/** Both sides as JSON, closed until somebody opens them: they may be long. */
const changeOf = (before: unknown, after: unknown): Html | false =>
  (before !== null || after !== null) &&
  html`<details class="figures"><summary>Details</summary>${side(say`Before`, before)}${side(say`After`, after)}</details>`
const side = (title: string, value: unknown): Html | false =>
  value !== null && html`<p class="muted">${title}</p><pre>${JSON.stringify(value, null, 1)}</pre>`
