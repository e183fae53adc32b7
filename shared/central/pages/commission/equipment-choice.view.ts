/** The page that puts points into equipment: a filter, the points that fit it, and the equipment that they go to. */
import { addressText } from '#shared/core/bacnet/object-name.ts'
import { type Building, type Equipment, EQUIPMENT_TYPES, type EquipmentType, type Point } from '#shared/core/model/model.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { equipmentHref, pointHref } from '#shared/central/ui/links.ts'
import { unitLabel } from '#shared/central/ui/measure.ts'
import { choiceList } from '#shared/central/ui/pager.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { equipmentOfDevice, pointsByDevice } from '#shared/core/suggest/device-equipment.ts'
import { COMMISSION_PATH, commissionCrumbs } from './commission.view.ts'
import { say, sayCount, sayCountOf } from '#shared/node/http/language.ts'

type PlaceModel = {
  building: Building
  equipment: Equipment[]
  /** All that fit the filter. */
  points: Point[]
  q: string
  which: 'unplaced' | 'all'
  /** In no equipment, whatever the filter. */
  unplaced: Point[]
  refusal: string | undefined
  /** What a refused form had; undefined before one is sent. */
  typed: { equipment: string; new_name: string; new_type: EquipmentType; chosen: ReadonlySet<string>; rest: boolean } | undefined
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
${deviceChoices(model)}
${model.points.length === 0 ? html`<section class="card quiet-card"><h2>${model.q === '' && model.which === 'unplaced' ? say`Every point belongs to equipment.` : say`No point fits.`}</h2></section>` : placeForm(model)}`

/** The points of one device are often those of one equipment, so each device is one tap away. */
function deviceChoices({ building, unplaced, q }: PlaceModel): Html | false {
  const devices = pointsByDevice(unplaced)
  if (devices.length < 2) return false
  const href = (prefix: string) =>
    `${COMMISSION_PATH}/equipment?${new URLSearchParams({ building: building.building_id, q: prefix })}`
  const choices = devices.map(([prefix, own]) => ({
    href: href(prefix),
    text: `${prefix.slice(0, -1)} (${sayCount(own.length)})`,
    isChosen: prefix === q,
  }))
  return html`<nav class="states" aria-label="Points of one device"><p class="muted">Points of one device</p>${choiceList(choices)}</nav>`
}

function placeForm(model: PlaceModel): Html {
  const { building, equipment, points, q, which, typed, user, csrf } = model
  const proposed = pointsByDevice(points).some(([prefix]) => prefix === q) ? equipmentOfDevice(q) : undefined
  const newType = typed?.new_type ?? proposed?.equipment_type
  const chosen = (point: Point) => typed === undefined || typed.chosen.has(point.point_id)
  const names = new Map(equipment.map(one => [one.equipment_id, one.name]))
  const rest = points.length - ROWS_SHOWN
  return html`<form method="post" action="${COMMISSION_PATH}/equipment">${csrfField(csrf)}
<input type="hidden" name="building" value="${building.building_id}"><input type="hidden" name="q" value="${q}"><input type="hidden" name="which" value="${which}">
<section class="card"><h2>${sayCountOf(points.length, 'point')}</h2>
<table class="tried"><thead><tr><th scope="col">Choose</th><th scope="col">Point</th><th scope="col">Unit</th><th scope="col">Address</th><th scope="col">In</th></tr></thead>
<tbody>${points.slice(0, ROWS_SHOWN).map(
    (point, i) => html`<tr>
<td data-label="Choose"><div><input type="checkbox" class="pick" name="point-${i}" value="${point.point_id}" aria-label="${point.name}"${chosen(point) && html` checked`}></div></td>
<td data-label="Point"><div><a href="${pointHref(point)}">${point.name}</a></div></td>
<td data-label="Unit"><div>${unitLabel(point.unit)}</div></td>
<td data-label="Address"><div><code>${addressText(point.source)}</code></div></td>
<td data-label="In"><div>${point.equipment_id === undefined ? html`<span class="muted">nothing</span>` : html`<a href="${equipmentHref({ building_id: building.building_id, equipment_id: point.equipment_id })}">${names.get(point.equipment_id) ?? point.equipment_id}</a>`}</div></td></tr>`,
  )}</tbody></table>
${rest > 0 && html`<label class="check"><input type="checkbox" name="rest" value="yes"${typed?.rest === true && html` checked`}> Also the ${sayCountOf(rest, 'point')} that are not shown</label>`}</section>
<section class="card"><h2>Where they go</h2><div class="fields">
<label>Equipment <select name="equipment"><option value="">a new one, named below</option>${equipment.map(({ equipment_id, name }) => html`<option value="${equipment_id}"${equipment_id === typed?.equipment && html` selected`}>${name}</option>`)}</select></label>
<label>Name of the new one <input name="new_name" maxlength="200" autocomplete="off" value="${typed?.new_name ?? proposed?.name ?? ''}"></label>
<label>What it is <select name="new_type">${EQUIPMENT_TYPES.map(type => html`<option value="${type}"${type === newType && html` selected`}>${EQUIPMENT_WORDS[type][0]}</option>`)}</select></label>
${operatorButton(user, 'why-place', say`Put them there`, 'primary')}</div></section></form>`
}
