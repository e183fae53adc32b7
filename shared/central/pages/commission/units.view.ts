/** The page of points whose values do not fit their unit. */
import type { Doubtful } from '#shared/core/model/unit-doubt.ts'
import type { Building } from '#shared/core/model/model.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { pointHref } from '#shared/central/ui/links.ts'
import { unitLabel } from '#shared/central/ui/measure.ts'
import { COMMISSION_PATH, commissionCrumbs, commissionHref } from './commission.view.ts'
import { say, sayNumber } from '#shared/node/http/language.ts'

type UnitsModel = {
  building: Building
  doubtful: Doubtful[]
  /** Points that were compared. */
  checked: number
  refusal: string | undefined
  user: User | undefined
  csrf: string
}

export const unitsBody = (model: UnitsModel): Html => html`${commissionCrumbs(model.building)}
<h1>Check units against values</h1>
<p class="lead">The values of the last day of ${model.checked} points with a role, compared with what is plausible for that role.</p>
${model.refusal !== undefined && html`<p class="error" role="alert">${model.refusal}</p>`}
${
  model.doubtful.length === 0
    ? html`<section class="card quiet-card"><h2>${model.checked === 0 ? say`No point has a role yet.` : say`All values fit their unit.`}</h2><p>Next: <a href="/coverage?building=${encodeURIComponent(model.building.building_id)}">see which rules can run</a>, or go back to <a href="${commissionHref('', model.building)}">all steps</a>.</p></section>`
    : html`<section class="card"><table class="tried"><thead><tr><th scope="col">Point</th><th scope="col">Values</th><th scope="col">Would mean</th><th scope="col">Unit</th></tr></thead>
<tbody>${model.doubtful.map((one, i) => doubtRow(one, i, model))}</tbody></table></section>`
}`

const span = ([low, high]: readonly [number, number], unit: string): string =>
  say`${sayNumber(low, 1)} to ${sayNumber(high, 1)} ${unitLabel(unit)}`

const doubtRow = ({ point, values, doubt }: Doubtful, i: number, model: UnitsModel): Html => html`<tr>
<td data-label="Point"><div><a href="${pointHref(point)}">${point.name}</a> <code>${point.role}</code></div></td>
<td data-label="Values"><div>${span(values, point.unit)}</div></td>
<td data-label="Would mean"><div>${span(doubt.read, doubt.unit)} <span class="muted">plausible is ${span(doubt.plausible, doubt.unit)}</span></div></td>
<td data-label="Unit"><div>${remedy(point, doubt.instead, i, model)}</div></td></tr>`

/** The unit of a point that a box measures is stated in the box's list of devices, and would come back from there. */
function remedy(point: Doubtful['point'], instead: string[], i: number, { building, user, csrf }: UnitsModel): Html {
  if (instead.length === 0) return html`No unit makes them plausible: look at the sensor, or at the role.`
  const units = instead.map(unitLabel).join(', ')
  if (point.edge_id !== undefined) {
    const [device_id = ''] = point.source.address.split('/')
    return html`Plausible as ${units}. It is stated in the list of devices of <code>${point.edge_id}</code>: <a href="/devices/${encodeURIComponent(device_id)}">${device_id}</a>.`
  }
  return html`<form method="post" action="${COMMISSION_PATH}/units">${csrfField(csrf)}<input type="hidden" name="building" value="${building.building_id}"><input type="hidden" name="point" value="${point.point_id}">
<select name="unit" aria-label="Unit of ${point.name}">${instead.map(code => html`<option value="${code}">${unitLabel(code)}</option>`)}</select> ${operatorButton(user, `why-unit-${i}`, say`Set unit`)}</form>`
}
