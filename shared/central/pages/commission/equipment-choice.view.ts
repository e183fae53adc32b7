/** The page that puts points into equipment: a filter, the points that fit it, and the equipment that they go to. */
import { addressText } from '#shared/core/bacnet/object-name.ts'
import { type Building, type Equipment, EQUIPMENT_TYPES, type Point } from '#shared/core/model/model.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { pointHref } from '#shared/central/ui/links.ts'
import { unitLabel } from '#shared/central/ui/measure.ts'
import { componentWords } from '#shared/central/ui/words.ts'
import { COMMISSION_PATH, commissionCrumbs } from './commission.view.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

type PlaceModel = {
  building: Building
  equipment: Equipment[]
  /** All that fit the filter. */
  points: Point[]
  q: string
  which: 'unplaced' | 'all'
  refusal: string | undefined
  user: User | undefined
  csrf: string
}

/** Rows of the table; the form can take the rest along. */
export const ROWS_SHOWN = 200

export const placeBody = (model: PlaceModel): Html => html`${commissionCrumbs(model.building)}
<h1>Put points into equipment</h1>
<p class="lead">Filter, choose, and name the equipment. Roles come in the next step.</p>
${model.refusal !== undefined && html`<p class="error" role="alert">${model.refusal}</p>`}
<form class="filter" method="get" action="${COMMISSION_PATH}/equipment"><input type="hidden" name="building" value="${model.building.building_id}">
<label>Name, address or unit contains <input type="search" name="q" value="${model.q}" maxlength="200" autocapitalize="none"></label>
<label>Points <select name="which"><option value="unplaced">in no equipment</option><option value="all"${model.which === 'all' && html` selected`}>all</option></select></label>
<button>Show</button></form>
${model.points.length === 0 ? html`<section class="card quiet-card"><h2>${model.q === '' && model.which === 'unplaced' ? say`Every point belongs to equipment.` : say`No point fits.`}</h2></section>` : placeForm(model)}`

function placeForm(model: PlaceModel): Html {
  const { building, equipment, points, q, which, user, csrf } = model
  const names = new Map(equipment.map(one => [one.equipment_id, one.name]))
  const rest = points.length - ROWS_SHOWN
  return html`<form method="post" action="${COMMISSION_PATH}/equipment">${csrfField(csrf)}
<input type="hidden" name="building" value="${building.building_id}"><input type="hidden" name="q" value="${q}"><input type="hidden" name="which" value="${which}">
<section class="card"><h2>${sayCountOf(points.length, 'point')}</h2>
<table class="tried"><thead><tr><th scope="col">Choose</th><th scope="col">Point</th><th scope="col">Unit</th><th scope="col">Address</th><th scope="col">In</th></tr></thead>
<tbody>${points.slice(0, ROWS_SHOWN).map(
    (point, i) => html`<tr>
<td data-label="Choose"><div><input type="checkbox" class="pick" name="point-${i}" value="${point.point_id}" aria-label="${point.name}" checked></div></td>
<td data-label="Point"><div><a href="${pointHref(point)}">${point.name}</a></div></td>
<td data-label="Unit"><div>${unitLabel(point.unit)}</div></td>
<td data-label="Address"><div><code>${addressText(point.source)}</code></div></td>
<td data-label="In"><div>${point.equipment_id === undefined ? html`<span class="muted">nothing</span>` : (names.get(point.equipment_id) ?? point.equipment_id)}</div></td></tr>`,
  )}</tbody></table>
${rest > 0 && html`<label class="check"><input type="checkbox" name="rest" value="yes"> Also the ${sayCountOf(rest, 'point')} that are not shown</label>`}</section>
<section class="card"><h2>Where they go</h2><div class="fields">
<label>Equipment <select name="equipment"><option value="">a new one, named below</option>${equipment.map(({ equipment_id, name }) => html`<option value="${equipment_id}">${name}</option>`)}</select></label>
<label>Name of the new one <input name="new_name" maxlength="200" autocomplete="off"></label>
<label>What it is <select name="new_type">${EQUIPMENT_TYPES.map(type => html`<option value="${type}">${componentWords(type)}</option>`)}</select></label>
${operatorButton(user, 'why-place', say`Put them there`, 'primary')}</div></section></form>`
}
