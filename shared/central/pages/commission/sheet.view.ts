/** The page that takes a spreadsheet of the model, and shows what would change before it is saved. */
import type { Building } from '#shared/core/model/model.ts'
import type { DataError } from '#shared/core/problem.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { RecordDifference } from '#shared/central/commands/model-exchange.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { COMMISSION_PATH, commissionCrumbs, commissionHref } from './commission.view.ts'
import { say, sayCountOf, sayMade } from '#shared/node/http/language.ts'

type SheetModel = { building: Building; user: User | undefined; csrf: string }
type Refusal = { message: string; errors: readonly DataError[] }

/** Lines of a list; the sheet itself has all of them. */
const SHOWN = 300

export const sheetBody = (model: SheetModel, refusal?: Refusal): Html => html`${commissionCrumbs(model.building)}
<h1>Bring a spreadsheet back</h1>
<p class="lead">The CSV of <a href="/api/model/export?building_id=${encodeURIComponent(model.building.building_id)}&amp;format=csv" download>this building's model</a>, changed. Rows that are left out stay as they are.</p>
${refusal && refusalCard(refusal)}
<section class="card"><form class="fields" method="post" action="${COMMISSION_PATH}/sheet" enctype="multipart/form-data">${csrfField(model.csrf)}<input type="hidden" name="building" value="${model.building.building_id}">
<label>File <input type="file" name="file" accept=".csv,text/csv" required></label>
${operatorButton(model.user, 'why-sheet', say`Show what would change`)}</form></section>`

function refusalCard({ message, errors }: Refusal): Html {
  const placed = errors.filter(({ row }) => row !== undefined)
  return html`<section class="card" role="alert"><p class="error">${sayMade(message)}</p>
${placed.length > 0 && html`<ul class="log">${placed.slice(0, SHOWN).map(({ row, column, message: text, hint }) => html`<li>Row ${row}${column !== undefined && html`, <code>${column}</code>`}: ${sayMade(text)}${hint !== undefined && html` <span class="muted">${sayMade(hint)}</span>`}</li>`)}</ul>`}</section>`
}

export function differenceBody(model: SheetModel, differences: RecordDifference[], text: string): Html {
  const added = differences.filter(({ isNew }) => isNew).length
  const more = differences.length - SHOWN
  return html`${commissionCrumbs(model.building)}
<h1>What would change</h1>
<p class="lead">${differences.length === 0 ? say`Nothing: the file says what is stored.` : say`${sayCountOf(differences.length - added, 'record')} would change, and ${sayCountOf(added, 'record')} would be added. Nothing is saved yet.`}</p>
${
  differences.length > 0 &&
  html`<section class="card"><table class="tried"><thead><tr><th scope="col">Record</th><th scope="col">Field</th><th scope="col">Now</th><th scope="col">Then</th></tr></thead>
<tbody>${differences.slice(0, SHOWN).map(differenceRows)}</tbody></table>
${more > 0 && html`<p class="muted">And ${sayCountOf(more, 'more record')}.</p>`}
<form method="post" action="${COMMISSION_PATH}/sheet/apply">${csrfField(model.csrf)}<input type="hidden" name="building" value="${model.building.building_id}"><input type="hidden" name="text" value="${text}">${operatorButton(model.user, 'why-apply', say`Save these changes`, 'primary')}</form></section>`
}
<p><a href="${commissionHref('/sheet', model.building)}">Another file</a></p>`
}

const differenceRows = ({ record, name, isNew, fields }: RecordDifference): Html[] =>
  fields.map(
    ({ field, before, after }) => html`<tr>
<td data-label="Record"><div>${name} <span class="muted">${isNew ? say`new ${record}` : record}</span></div></td>
<td data-label="Field"><div><code>${field}</code></div></td>
<td data-label="Now"><div>${shown(before)}</div></td>
<td data-label="Then"><div><strong>${shown(after)}</strong></div></td></tr>`,
  )

const shown = (value: unknown): string =>
  value === undefined ? say`nothing` : typeof value === 'string' ? value : JSON.stringify(value)
