/** The page of points: which have no role yet and what they seem to be. A person decides; nothing is assigned unasked. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building, Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import type { Suggestion } from '#shared/core/suggest/suggest.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { LIKELY } from '#shared/flow/commission.ts'
import type { ModelFormat } from '#shared/central/commands/model-exchange.ts'
import { buildingChoice } from '#shared/central/pages/settings/params.view.ts'
import { pointHref } from '#shared/central/ui/links.ts'
import { unitLabel } from '#shared/central/ui/measure.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { shareOf } from '#shared/central/ui/words.ts'
import { countOf } from '#shared/core/number-text.ts'

export type PointsModel = {
  building: Building
  buildings: Building[]
  /** Equipment that has points, by name. */
  equipment: { equipment_id: string; name: string; points: number; open: number }[]
  chosen: string | undefined
  /** Of the equipment that was chosen. */
  points: (Point & { suggestions: Suggestion[] })[]
  /** Whether likely roles are chosen in the form already, because somebody asked for it. */
  filled: boolean
  /** The error of a submitted form, with its roles by point, so that nobody has to choose them twice. */
  refusal: { message: string; roles: ReadonlyMap<string, string> } | undefined
  here: Here
  user: User | undefined
  csrf: string
}

const EXPORTS: readonly (readonly [ModelFormat, string])[] = [
  ['csv', 'CSV'],
  ['haystack', 'Haystack'],
  ['brick', 'Brick'],
]

export const pointsBody = (model: PointsModel): Html => html`<h1>Points</h1>
<p class="lead">What each point is to its equipment. Rules read roles, never names.</p>
${commissionTabs('/points', model.building.building_id)}
${buildingChoice(model.buildings, model.building, '/points')}
<p>Model of this building as a file: ${EXPORTS.map(([format, text], i) => html`${i > 0 && ', '}<a href="/api/model/export?building_id=${encodeURIComponent(model.building.building_id)}&format=${format}">${text}</a>`)}.</p>
${model.refusal && html`<p class="error" role="alert">${model.refusal.message}</p>`}
${model.equipment.length ? equipmentList(model) : html`<section class="card"><p>No point of this building belongs to equipment yet.</p></section>`}
${model.points.length > 0 && pointForm(model)}`

export const commissionTabs = (current: '/points' | '/coverage', building_id: string): Html =>
  html`<nav class="tabs" aria-label="What rules need"><ul>${[
    ['/points', 'Points'],
    ['/coverage', 'Coverage'],
  ].map(
    ([href, text]) =>
      html`<li><a href="${href}?building=${encodeURIComponent(building_id)}"${href === current && html` aria-current="true"`}>${text}</a></li>`,
  )}</ul></nav>`

const hrefOf = ({ building }: PointsModel, equipment_id: string, more = ''): string =>
  `/points?building=${encodeURIComponent(building.building_id)}&equipment=${encodeURIComponent(equipment_id)}${more}`

const equipmentList = (model: PointsModel): Html =>
  html`<section class="card"><h2>Equipment</h2><ul class="choices">${model.equipment.map(
    ({ equipment_id, name, points, open }) =>
      html`<li><a href="${hrefOf(model, equipment_id)}"${equipment_id === model.chosen && html` aria-current="true"`}>${name}: ${countOf(points, 'point')}${open > 0 && `, ${open} without a role`}</a></li>`,
  )}</ul></section>`

function pointForm(model: PointsModel): Html {
  const { building, chosen = '', user, csrf } = model
  const points = model.points.filter(({ gone }) => !gone)
  const likely = points.filter(point => likelyRole(point) !== undefined).length
  return html`<section class="card"><h2>${model.equipment.find(one => one.equipment_id === chosen)?.name ?? chosen}</h2>
${likely > 0 && !model.filled && html`<p><a href="${hrefOf(model, chosen, '&fill=true')}">Choose what is likely (${likely})</a>; nothing is saved by it.</p>`}
<form method="post" action="/points/save">${csrfField(csrf)}<input type="hidden" name="building" value="${building.building_id}"><input type="hidden" name="equipment" value="${chosen}">
<table class="tried"><thead><tr><th scope="col">Point</th><th scope="col">Role</th><th scope="col">Why</th></tr></thead>
<tbody>${points.map(point => row(point, chosenRole(point, model)))}</tbody></table>
${operatorButton(user, 'save-points', 'Save roles')}</form>
${goneList(model)}</section>`
}

/** Their history stays, and so they are named; no role can be theirs. */
function goneList({ points, here }: PointsModel): Html | false {
  const gone = points.flatMap(point => (point.gone ? { ...point, gone: point.gone } : []))
  if (gone.length === 0) return false
  return html`<h3>Not measured any more</h3><p>The history stays. A point that is measured again has its role again.</p>
<ul>${gone.map(({ name, gone: { at, role }, ...ids }) => html`<li><a href="${pointHref(ids)}">${name}</a>${role !== undefined && html`, was <code>${role}</code>`} <span class="muted">since ${moment(at, here)}</span></li>`)}</ul>`
}

const likelyRole = ({ suggestions: [first] }: PointsModel['points'][number]): string | undefined =>
  first && first.confidence >= LIKELY ? first.role : undefined

const chosenRole = (point: PointsModel['points'][number], { filled, refusal }: PointsModel): string | undefined =>
  refusal?.roles.get(point.point_id) || point.role || (filled ? likelyRole(point) : undefined)

function row(point: PointsModel['points'][number], chosen: string | undefined): Html {
  const { point_id, name, unit, role, suggestions } = point
  const [first] = suggestions
  const why = first
    ? `${first.role}, ${shareOf(first.confidence)}: ${first.why.join('; ')}`
    : role === undefined && 'nothing says'
  return html`<tr>
<td data-label="Point"><div><a href="${pointHref(point)}"><strong>${name}</strong></a> <span class="muted">${unitLabel(unit)}</span></div></td>
<td data-label="Role"><div><select aria-label="Role of ${name}" name="role.${point_id}">${choices(point, chosen)}</select></div></td>
${why ? html`<td data-label="Why"><div class="muted">${why}</div></td>` : html`<td class="none"></td>`}
</tr>`
}

/** The present and the chosen role are always among the options: otherwise a form would send the first option instead. */
function choices({ unit, kind, role, suggestions }: PointsModel['points'][number], chosen: string | undefined): Html[] {
  const suggested = suggestions.map(one => one.role)
  const fitting = Object.entries(ROLES).flatMap(([name, known]) =>
    known.kind === kind && (kind !== 'number' || conversion(unit, known.unit)) && !suggested.includes(name) ? [name] : [],
  )
  const option = (value: string, text: string) =>
    html`<option value="${value}"${value === (chosen ?? '') && html` selected`}>${text}</option>`
  const others = [...new Set([role, chosen].flatMap(name => name ?? []))].filter(
    name => !suggested.includes(name) && !fitting.includes(name),
  )
  return [
    ...(role === undefined ? [option('', 'no role')] : []),
    ...others.map(name => option(name, name)),
    ...suggestions.map(one => option(one.role, `${one.role} (${shareOf(one.confidence)})`)),
    ...fitting.map(name => option(name, name)),
  ]
}
