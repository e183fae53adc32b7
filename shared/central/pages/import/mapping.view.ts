/** The form that says what the columns of a staged table are, with samples of each. */
import type { StagedTable } from '#shared/central/commands/import-mapping.ts'
import type { ImportSession } from '#shared/central/import/sessions.ts'
import type { TableHead } from '#shared/central/import/table-head.ts'
import { DATE_ORDERS, type DateOrder } from '#shared/core/csv/timestamp.ts'
import type { TableMapping } from '#shared/core/csv/table-mapping.ts'
import { EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { UNITS } from '#shared/core/model/unit.ts'
import { LIKELY } from '#shared/flow/commission.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { UNIT_SYSTEM_WORDS } from '#shared/central/ui/measure.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { componentWords, shareOf } from '#shared/central/ui/words.ts'
import { MAPPED_MAX, suggestionOf } from './mapping-form.ts'
import { say, sayCountOf, words } from '#shared/node/http/language.ts'

type MappingModel = {
  session: ImportSession
  /** All of the package, and the one that is shown. */
  tables: StagedTable[]
  table: StagedTable
  head: TableHead
  mapping: TableMapping
  /** Places that were refused. */
  refusals: string[]
  csrf: string
}

const ORDER_WORDS: Record<DateOrder, string> = words({ mdy: 'month first: 5/7 is 7 May', dmy: 'day first: 5/7 is 5 July' })

export function mappingBody({ session, tables, table, head, mapping, refusals, csrf }: MappingModel): Html {
  const path = `/import/${encodeURIComponent(session.session_id)}`
  const { headers } = head
  const action = tables.length > 1 ? `${path}/mapping?table=${encodeURIComponent(table.table)}` : `${path}/mapping`
  return html`<p class="crumbs"><a href="/import">Import</a> <span aria-hidden="true">›</span> <a href="${path}">Report</a></p>
<h1>What the columns are</h1>
<p class="lead">Give each column its equipment, its role and its unit. Nothing is imported by this: the table is checked again, and you see the report.</p>
${tables.length > 1 && tableList({ tables, table, path, csrf })}
${
  refusals.length > 0 &&
  html`<div class="notice" role="alert"><p><strong>Nothing was changed.</strong></p><ul>${refusals.map(text => html`<li>${text}</li>`)}</ul></div>`
}
<form method="post" action="${action}">${csrfField(csrf)}
<div class="columns"><section class="card"><h2>Time</h2><div class="fields">
<label>Column of the time <select name="time_1">${headers.map(header => option(header, header, mapping.time_columns[0]))}</select></label>
<label>Time of day in a column of its own <select name="time_2">${option('', say`no, it is in the same`, mapping.time_columns[1] ?? '')}${headers.map(header => option(header, header, mapping.time_columns[1]))}</select></label>
<label>Order of day and month <select name="date_order">${option('', say`as the dates show it`, mapping.date_order ?? '')}${DATE_ORDERS.map(order => option(order, ORDER_WORDS[order], mapping.date_order))}</select></label>
<label>Time zone <input name="timezone" value="${mapping.timezone ?? ''}" maxlength="64" placeholder="Europe/Berlin" autocomplete="off" spellcheck="false" aria-describedby="zone-help"></label>
<p class="muted" id="zone-help">For times without an offset. First time: <strong>${timeSample(head, mapping)}</strong>${readTime(session)}</p>
<label>Minutes between rows <input name="grid_minutes" type="number" min="1" max="1440" value="${mapping.grid_minutes}" required></label>
</div></section>
<section class="card"><h2>Building and equipment</h2><div class="fields">
<label>Building id <input name="building_id" value="${mapping.building_id}" maxlength="128" required autocomplete="off" spellcheck="false"></label>
<label>Units where nothing says them <select name="unit_system">${option('', say`those of the building`, mapping.unit_system ?? '')}${option('si', UNIT_SYSTEM_WORDS.si, mapping.unit_system)}${option('us', UNIT_SYSTEM_WORDS.us, mapping.unit_system)}</select></label>
${[...mapping.equipment, undefined].map(equipmentFields)}
</div></section></div>
<section class="card"><h2>${sayCountOf(headers.length, 'column')}</h2>
<p class="muted">A column without equipment is left out. One without a role is stored and shown; no rule reads it.</p>
<datalist id="equipment">${mapping.equipment.map(({ equipment_id }) => html`<option value="${equipment_id}"></option>`)}</datalist>
<datalist id="roles">${Object.entries(ROLES).map(([name, { label }]) => html`<option value="${name}">${componentWords(label)}</option>`)}</datalist>
<datalist id="units">${Object.keys(UNITS).map(unit => html`<option value="${unit}"></option>`)}</datalist>
<table class="tried mapping"><thead><tr><th scope="col">Column</th><th scope="col">Samples</th><th scope="col">Equipment</th><th scope="col">Role</th><th scope="col">Unit</th></tr></thead>
<tbody>${headers.slice(0, MAPPED_MAX).map((header, i) => columnRow(header, i, { session, head, mapping }))}</tbody></table>
${headers.length > MAPPED_MAX && html`<p class="muted">The ${sayCountOf(headers.length - MAPPED_MAX, 'column')} after these stay as they are; a program maps them with <code>PUT /api/csv/import/preflight/…/mapping</code>.</p>`}
<p class="buttons"><button class="primary">Check the table again</button> ${likelyButton(session)}</p></section></form>`
}

/** The tables of a package, each with who has columns in it; one after the other is said. */
const tableList = ({
  tables,
  table: shown,
  path,
  csrf,
}: Pick<MappingModel, 'tables' | 'table' | 'csrf'> & {
  path: string
}): Html => html`<section class="card"><h2>${sayCountOf(tables.length, 'table')}</h2>
<p class="muted">Building, time zone, units and minutes between rows count for all of them.</p>
<ul class="log">${tables.map(
  one =>
    html`<li>${one === shown ? html`<strong aria-current="true">${one.path}</strong>` : html`<a href="${path}/mapping?table=${encodeURIComponent(one.table)}">${one.path}</a>`} <span class="muted">${one.equipment.length > 0 ? one.equipment.join(', ') : say`its columns are not said yet`}</span></li>`,
)}</ul>
<details><summary>Leave ${shown.path} out</summary><p>It is not imported. To bring it back, upload the package again.</p>
<form method="post" action="${path}/leave-out">${csrfField(csrf)}<input type="hidden" name="table" value="${shown.table}"><button>Leave this table out</button></form></details></section>`

const option = (value: string, text: string, chosen: string | undefined): Html =>
  html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`

/** The last one is blank, for another equipment. */
const equipmentFields = (known: TableMapping['equipment'][number] | undefined, i: number): Html => {
  const [id, type] = [known?.equipment_id ?? '', known?.equipment_type ?? '']
  return html`<fieldset><legend>${known ? say`Equipment ${id}` : say`Another equipment`}</legend>
<label>Id <input name="id.${i}" value="${id}" maxlength="128" autocomplete="off" spellcheck="false"></label>
<label>Type <select name="type.${i}">${option('', say`choose`, type)}${EQUIPMENT_TYPES.map(one => option(one, EQUIPMENT_WORDS[one][0], type))}</select></label></fieldset>`
}

function columnRow(
  header: string,
  i: number,
  { session, head, mapping }: Pick<MappingModel, 'session' | 'head' | 'mapping'>,
): Html {
  if (mapping.time_columns.includes(header)) {
    return html`<tr><td data-label="Column"><div><strong>${header}</strong></div></td><td data-label="Samples"><div>${samplesOf(head, i)}</div></td><td data-label="Equipment" colspan="3"><div class="muted">the time</div></td></tr>`
  }
  const own = mapping.columns.find(column => column.header === header)
  const read = session.report.equipment.flatMap(({ columns }) => columns).find(column => column.header === header)
  const suggestion = own?.role === undefined ? suggestionOf(session, header) : undefined
  return html`<tr>
<td data-label="Column"><div><strong>${header}</strong></div></td>
<td data-label="Samples"><div>${samplesOf(head, i)}</div></td>
<td data-label="Equipment"><div><input name="equipment.${i}" value="${own?.equipment_id ?? ''}" list="equipment" maxlength="128" aria-label="Equipment of ${header}" autocomplete="off" spellcheck="false"></div></td>
<td data-label="Role"><div><input name="role.${i}" value="${own?.role ?? ''}" list="roles" maxlength="128" aria-label="Role of ${header}" autocomplete="off" spellcheck="false">${
    suggestion && html` <span class="muted">perhaps ${suggestion.role}, ${shareOf(suggestion.confidence)}</span>`
  }</div></td>
<td data-label="Unit"><div><input name="unit.${i}" value="${own?.unit ?? ''}" list="units" maxlength="64" placeholder="${read?.unit ?? ''}" aria-label="Unit of ${header}" autocomplete="off" spellcheck="false"></div></td></tr>`
}

const samplesOf = ({ rows }: TableHead, i: number): Html | string => {
  const cells = rows.map(cells => cells[i]?.trim() ?? '')
  return cells.every(cell => cell === '')
    ? html`<span class="muted">blank</span>`
    : cells.map(cell => (cell === '' ? '–' : cell)).join(' · ')
}

function timeSample({ headers, rows }: TableHead, { time_columns }: TableMapping): string {
  const [first] = rows
  return first ? time_columns.map(header => first[headers.indexOf(header)] ?? '').join(' ') : say`no row`
}

/** What the check before has read as the first and last time. */
function readTime({ report }: ImportSession): Html | false {
  const found = report.equipment.find(({ first_at_local }) => first_at_local !== null)
  return found !== undefined && html`, read as ${found.first_at_local}; the last one ${found.last_at_local}`
}

function likelyButton(session: ImportSession): Html | false {
  const headers = session.report.equipment.flatMap(({ columns }) => columns.map(({ header }) => header))
  const likely = headers.filter(header => (suggestionOf(session, header)?.confidence ?? 0) >= LIKELY).length
  return likely > 0 && html`<button name="likely" value="yes">Check again with ${sayCountOf(likely, 'likely role')}</button>`
}
