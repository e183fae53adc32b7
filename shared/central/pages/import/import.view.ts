/** The pages of a CSV import: the upload, and the report with what is wrong and what each column becomes. */
import type { Check } from '#shared/core/csv/checks.ts'
import type { PackageReport } from '#shared/core/csv/package-report.ts'
import { type Building, EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { ImportResult } from '#shared/flow/ingest/import-package.ts'
import { countTables } from '#shared/central/commands/import-mapping.ts'
import type { ImportSession } from '#shared/central/import/sessions.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { say, sayCount, sayCountOf, sayPlaced, words } from '#shared/node/http/language.ts'

/** Lines of one list that the page shows; the API gives all. */
const SHOWN = 200
/** Tables whose rejected rows have a link. */
const TABLES_SHOWN = 20

export const packageBody = ({ buildings, csrf }: { buildings: Building[]; csrf: string }): Html => html`<h1>Import</h1>
<p class="lead">History of a building as a CSV package: a ZIP with <code>manifest.json</code>, and for each equipment <code>history_wide.csv</code> and <code>column_map.json</code>; or a single table. Nothing is changed before you have seen the report.</p>
<p>To start from: <a href="/import/example.zip">an example of a package</a>, <a href="/import/example.csv">an example of a table</a>.</p>
<section class="card"><h2>A ZIP</h2>
<form class="fields" method="post" action="/import" enctype="multipart/form-data">${csrfField(csrf)}
<label>Package <input type="file" name="package" accept=".zip" required></label>
<button>Check the package</button></form></section>
<section class="card"><h2>A single table</h2>
<form class="fields" method="post" action="/import" enctype="multipart/form-data">${csrfField(csrf)}
<label>CSV file <input type="file" name="package" accept=".csv,.tsv,.tab,.txt,text/csv" required></label>
<label>Building id <input name="building_id" required maxlength="128"></label>
<label>Time zone <input name="timezone" required maxlength="64" placeholder="Europe/Berlin"></label>
<label>Minutes between rows <input name="grid_minutes" type="number" min="1" max="1440" value="5" required></label>
<label>Equipment of its columns <input name="equipment_id" required maxlength="128" placeholder="AHU-1"></label>
<label>Type of it <select name="equipment_type">${EQUIPMENT_TYPES.map(type => html`<option value="${type}">${EQUIPMENT_WORDS[type][0]}</option>`)}</select></label>
<p class="muted">What each column is, also of other equipment, is said after the upload, with samples of its values.</p>
<button>Check the table</button></form></section>
${buildings.length > 0 && exportCard(buildings)}`

const exportCard = (buildings: Building[]): Html => html`<section class="card"><h2>Take history along</h2>
<p>History that is stored here as a ZIP that this page takes again, here or on another box or hub: every sample at its time, with role, unit and name of its point. Points of no equipment are left out, and texts of states go with the model.</p>
<form class="fields" method="get" action="/import/history.zip">
<label>Building <select name="building_id">${buildings.map(({ building_id, name }) => html`<option value="${building_id}">${name}</option>`)}</select></label>
<label>Equipment id, empty for all <input name="equipment_id" maxlength="128" autocapitalize="none" spellcheck="false"></label>
<label>From, empty for the beginning <input type="date" name="from"></label>
<label>Through, empty for the end <input type="date" name="through"></label>
<button>Download</button></form></section>`

type ReportModel = {
  session: ImportSession
  /** What an import that adds what is new would write now; undefined while nobody has asked. */
  counted: ImportResult | undefined
  csrf: string
}

export const reportBody = (model: ReportModel): Html => {
  const { session } = model
  const { report, result } = session
  return html`<p class="crumbs"><a href="/import">Import</a></p>
<h1>${result ? say`Imported` : say`Report of the package`}</h1>
<section class="card">${result ? resultCard(result) : verdictCard(model)}${!result && mappingLink(session)}</section>
${report.checks.length > 0 && checkTable(report.checks)}
${report.equipment.map(one => equipmentCard(one))}`
}

const mappingLink = ({ session_id, files }: ImportSession): Html | false =>
  countTables(files) > 0 &&
  html`<p><a href="/import/${encodeURIComponent(session_id)}/mapping">Say what the columns are</a>: equipment, role and unit of each, and the time. Samples stand beside them.</p>`

const resultCard = ({ building_id, rows_in, rows_written, rows_duplicate, rows_rejected }: ImportResult): Html =>
  html`<p class="lead">Of ${sayCountOf(rows_in, 'row')} of ${building_id}, ${sayCount(rows_written)} were stored, ${sayCount(rows_duplicate)} were there already and ${sayCount(rows_rejected)} were rejected.</p>
<p><a href="/points?building=${encodeURIComponent(building_id)}">Assign roles to its points</a> or look at its <a href="/faults?building=${encodeURIComponent(building_id)}">faults</a> after the next run.</p>`

function verdictCard({ session, counted, csrf }: ReportModel): Html {
  const { session_id, report, plan } = session
  const { can_execute, building_id, rows_in, rows_rejected } = report
  const rejects = `/api/csv/import/preflight/${encodeURIComponent(session_id)}/rejects.csv`
  const rows = html`${sayCountOf(rows_in, 'row')}, ${sayCount(rows_rejected)} rejected${rows_rejected > 0 && html` (<a href="${rejects}">list</a>)`}`
  const tables = rows_rejected > 0 ? (plan?.tables ?? []).slice(0, TABLES_SHOWN) : []
  const toCorrect =
    tables.length > 0 &&
    html`<p>Rejected rows alone, to correct and import: ${tables.map(
      ({ path }, i) => html`${i > 0 && ', '}<a href="${rejects}?${new URLSearchParams({ as: 'rows', table: path })}">${path}</a>`,
    )}</p>`
  if (!can_execute) {
    return html`<p class="notice" role="alert"><strong>It cannot be imported.</strong> ${countTables(session.files) > 0 ? say`Say below what the columns are, or correct what is marked as an error and upload it again.` : say`Correct what is marked as an error and upload it again.`}</p><p>${rows}.</p>${toCorrect}`
  }
  return html`<p class="lead">It can be imported into the building <strong>${building_id}</strong>: ${rows}.</p>
${toCorrect}
${
  counted
    ? html`<p role="status">Of its samples, ${sayCount(counted.samples_written)} are new or changed and ${sayCount(counted.samples_duplicate)} are stored already.</p>`
    : html`<p><a href="/import/${encodeURIComponent(session_id)}?count=1">Count what is new</a></p>`
}
<form class="fields" method="post" action="/import/${encodeURIComponent(session_id)}">${csrfField(csrf)}
<label>Where samples are stored already <select name="mode"><option value="merge">add what is new</option><option value="replace">replace the history of these points</option></select></label>
<button class="primary">Import</button></form>`
}

const SEVERITIES: Record<Check['severity'], string> = words({ error: 'error', warning: 'warning', info: 'note' })

const checkTable = (checks: Check[]): Html => html`<section class="card"><h2>Checks</h2>
<table class="tried"><thead><tr><th scope="col">Kind</th><th scope="col">What</th><th scope="col">Count</th><th scope="col">Examples</th></tr></thead>
<tbody>${checks.slice(0, SHOWN).map(
  ({ severity, code, message, count, examples }) => html`<tr>
<td data-label="Kind"><div>${SEVERITIES[severity]}</div></td>
<td data-label="What"><div>${sayPlaced(message)} <span class="muted">${code}</span></div></td>
<td data-label="Count"><div>${sayCount(count)}</div></td>
<td data-label="Examples"><div>${examples.join('; ') || say`none`}</div></td></tr>`,
)}</tbody></table>${checks.length > SHOWN && html`<p class="muted">and ${sayCount(checks.length - SHOWN)} more</p>`}</section>`

const equipmentCard = ({
  equipment_id,
  equipment_type,
  rows,
  first_at,
  last_at,
  first_at_local,
  last_at_local,
  columns,
}: PackageReport['equipment'][number]): Html => html`<section class="card"><h2>${equipment_id}</h2>
<p>${EQUIPMENT_WORDS[equipment_type][0]}, ${sayCountOf(rows, 'row')}${first_at_local !== null && html` from ${first_at_local} to ${last_at_local} <span class="muted">(${first_at} to ${last_at})</span>`}</p>
<table class="tried"><thead><tr><th scope="col">Column</th><th scope="col">Role</th><th scope="col">Unit</th><th scope="col">State</th></tr></thead>
<tbody>${columns.slice(0, SHOWN).map(
  ({ header, role, unit, status, suggestion }) => html`<tr>
<td data-label="Column"><div>${header}</div></td>
<td data-label="Role"><div>${role ?? (suggestion === undefined ? say`none` : html`none <span class="muted">perhaps ${suggestion}</span>`)}</div></td>
<td data-label="Unit"><div>${unit || say`none`}</div></td>
<td data-label="State"><div>${status}</div></td></tr>`,
)}</tbody></table>${columns.length > SHOWN && html`<p class="muted">and ${sayCount(columns.length - SHOWN)} more</p>`}</section>`
