/** The page of points: which have no role yet and what they seem to be. A person decides; nothing is assigned unasked. */
import { addressText } from '#shared/core/bacnet/object-name.ts'
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
import { type ListPart, listSearch, pager, SEARCHED_FROM } from '#shared/central/ui/pager.ts'
import { say, sayCount, sayCountOf, sayMade } from '#shared/node/http/language.ts'

type SuggestedPoint = Point & { suggestions: Suggestion[] }
export type PointsModel = {
  building: Building
  buildings: Building[]
  /** Equipment that has points, those with points without a role first. */
  equipment: ListPart<{ equipment_id: string; name: string; points: number; open: number }>
  chosen: { equipment_id: string; name: string } | undefined
  /** Points of the building, and those of equipment that have no role. */
  all: number
  open: number
  /** Of the equipment that was chosen: points that are measured, and those that are not any more. */
  form: ListPart<SuggestedPoint>
  gone: (Point & { gone: NonNullable<Point['gone']> })[]
  /** What is searched for; empty while nobody searches. */
  q: string
  found: ListPart<Point>
  placeOf: (point: Point) => string
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
${model.refusal && html`<p class="error" role="alert">${sayMade(model.refusal.message)}</p>`}
${model.all > SEARCHED_FROM && listSearch({ path: '/points', state: { building: model.building.building_id }, q: model.q, label: say`Name, role, address or equipment` })}
${model.q !== '' ? foundList(model) : model.chosen ? pointForm(model, model.chosen) : equipmentList(model)}
<p>Model of this building as a file: ${EXPORTS.map(([format, text], i) => html`${i > 0 && ', '}<a href="/api/model/export?building_id=${encodeURIComponent(model.building.building_id)}&format=${format}">${text}</a>`)}.</p>`

export const commissionTabs = (current: '/points' | '/coverage', building_id: string): Html =>
  html`<nav class="tabs" aria-label="What rules need"><ul>${[
    ['/points', say`Points`],
    ['/coverage', say`Coverage`],
  ].map(
    ([href, text]) =>
      html`<li><a href="${href}?building=${encodeURIComponent(building_id)}"${href === current && html` aria-current="true"`}>${text}</a></li>`,
  )}</ul></nav>`

type PointsQuery = { building: string; equipment?: string | undefined; q?: string; page?: number | undefined; fill?: boolean }

export function pointsHref({ building, equipment, q, page, fill }: PointsQuery): string {
  const asked = {
    building,
    ...(equipment !== undefined && { equipment }),
    ...(q !== undefined && q !== '' && { q }),
    ...(fill && { fill: 'true' }),
    ...(page !== undefined && page > 1 && { page: String(page) }),
  }
  return `/points?${new URLSearchParams(asked)}`
}

const hrefIn = ({ building: { building_id: building } }: PointsModel, more: Omit<PointsQuery, 'building'>): string =>
  pointsHref({ building, ...more })

function equipmentList(model: PointsModel): Html {
  const { equipment, all, open } = model
  if (equipment.total === 0)
    return html`<section class="card"><p>No point of this building belongs to equipment yet.</p></section>`
  return html`<p>${sayCountOf(equipment.total, 'piece')} of equipment with ${sayCountOf(all, 'point')}, ${open > 0 ? say`${sayCount(open)} without a role` : say`all with a role`}.</p>
<ul class="lines">${equipment.rows.map(
    ({ equipment_id, name, points, open: without }) =>
      html`<li><a href="${hrefIn(model, { equipment: equipment_id })}">${name}: ${sayCountOf(points, 'point')}${without > 0 && say`, ${sayCount(without)} without a role`}</a></li>`,
  )}</ul>
${pager(equipment, page => hrefIn(model, { page }))}`
}

function foundList(model: PointsModel): Html {
  const { found, q, placeOf } = model
  const all = html`<a href="${hrefIn(model, {})}">All points</a>`
  if (found.total === 0)
    return html`<section class="card quiet-card"><p>No point has “${q}” in its name, role, address or equipment. ${all}</p></section>`
  return html`<p>${sayCountOf(found.total, 'point')} with “${q}”. ${all}</p>
<ul class="lines">${found.rows.map(
    point =>
      html`<li><a href="${pointHref(point)}">${point.name}</a> <span class="muted">${addressText(point.source)}</span><span class="muted">${
        point.equipment_id === undefined
          ? say`of no equipment`
          : html`<a href="${hrefIn(model, { equipment: point.equipment_id })}">${placeOf(point)}</a>`
      }, ${point.gone ? say`not measured any more` : (point.role ?? say`no role`)}</span></li>`,
  )}</ul>
${pager(found, page => hrefIn(model, { q, page }))}`
}

function pointForm(model: PointsModel, { equipment_id, name }: NonNullable<PointsModel['chosen']>): Html {
  const { building, form, user, csrf, filled } = model
  const likely = form.rows.filter(point => point.role === undefined && likelyRole(point) !== undefined).length
  const { page } = form
  return html`<section class="card"><h2>${name}</h2>
<p>${sayCountOf(form.total, 'point')}. <a href="${hrefIn(model, {})}">All equipment</a></p>
${likely > 0 && !filled && html`<p><a href="${hrefIn(model, { equipment: equipment_id, page, fill: true })}">Choose what is likely (${likely})</a>; nothing is saved by it.</p>`}
${
  form.total > 0 &&
  html`<form method="post" action="/points/save">${csrfField(csrf)}<input type="hidden" name="building" value="${building.building_id}"><input type="hidden" name="equipment" value="${equipment_id}"><input type="hidden" name="page" value="${page}">
<table class="tried"><thead><tr><th scope="col">Point</th><th scope="col">Role</th><th scope="col">Why</th></tr></thead>
<tbody>${form.rows.map(point => row(point, chosenRole(point, model)))}</tbody></table>
${operatorButton(user, 'save-points', say`Save roles`)}</form>`
}
${pager(form, to => hrefIn(model, { equipment: equipment_id, page: to, fill: filled }))}
${goneList(model)}</section>`
}

/** Their history stays, and so they are named; no role can be theirs. */
function goneList({ gone: points, here }: PointsModel): Html | false {
  if (points.length === 0) return false
  return html`<h3>Not measured any more</h3><p>The history stays. A point that is measured again has its role again.</p>
<ul>${points.map(({ name, gone: { at, role }, ...ids }) => html`<li><a href="${pointHref(ids)}">${name}</a>${role !== undefined && html`, was <code>${role}</code>`} <span class="muted">since ${moment(at, here)}</span></li>`)}</ul>`
}

const likelyRole = ({ suggestions: [first] }: SuggestedPoint): string | undefined =>
  first && first.confidence >= LIKELY ? first.role : undefined

const chosenRole = (point: SuggestedPoint, { filled, refusal }: PointsModel): string | undefined =>
  refusal?.roles.get(point.point_id) || point.role || (filled ? likelyRole(point) : undefined)

function row(point: SuggestedPoint, chosen: string | undefined): Html {
  const { point_id, name, unit, role, suggestions } = point
  const [first] = suggestions
  const why = first
    ? `${first.role}, ${shareOf(first.confidence)}: ${first.why.join('; ')}`
    : role === undefined && say`nothing says`
  return html`<tr>
<td data-label="Point"><div><a href="${pointHref(point)}"><strong>${name}</strong></a> <span class="muted">${unitLabel(unit)}</span></div></td>
<td data-label="Role"><div><select aria-label="Role of ${name}" name="role.${point_id}">${choices(point, chosen)}</select></div></td>
${why ? html`<td data-label="Why"><div class="muted">${why}</div></td>` : html`<td class="none"></td>`}
</tr>`
}

/** The present and the chosen role are always among the options: otherwise a form would send the first option instead. */
function choices({ unit, kind, role, suggestions }: SuggestedPoint, chosen: string | undefined): Html[] {
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
    ...(role === undefined ? [option('', say`no role`)] : []),
    ...others.map(name => option(name, name)),
    ...suggestions.map(one => option(one.role, `${one.role} (${shareOf(one.confidence)})`)),
    ...fitting.map(name => option(name, name)),
  ]
}
