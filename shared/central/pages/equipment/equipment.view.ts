/** The page of one equipment: what it does now, what was wrong with it, and what looks after it. */
import { priorityOf } from '#shared/core/findings/finding.ts'
import { formatDuration } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { togetherText } from '#shared/central/ui/cost-words.ts'
import { DRAWING_NARROW, DRAWING_WIDE, type DrawnValue, equipmentDrawing } from '#shared/central/ui/equipment-drawing.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { faultStateSign, overrideIcon, priorityIcon, stateIcon } from '#shared/central/ui/icons.ts'
import { breadcrumbs, equipmentHref, equipmentLink, findingHref, pointHref } from '#shared/central/ui/links.ts'
import { roleWords } from '#shared/central/ui/measure.ts'
import { formatDay, moment, momentAge, momentNow } from '#shared/central/ui/moment.ts'
import { equipmentNotice, type SnoozeForm, snoozeAheadForm } from '#shared/central/pages/faults/snoozes.view.ts'
import { laneOf } from '#shared/central/pages/faults/fault-list.ts'
import { TRACES_MAX } from '#shared/central/ui/plot.ts'
import { trendsHref } from '#shared/central/ui/trends-link.ts'
import { sparkline } from '#shared/central/ui/sparkline.ts'
import { swimLanes, type SwimLane } from '#shared/central/ui/swim-lanes.ts'
import { stateWords, titleOf } from '#shared/central/ui/words.ts'
import { LANE_DAYS, type EquipmentModel, type EquipmentNow, type HeldPoint } from './equipment-model.ts'
import { POINT_STATE_WORDS, type PointValue, pointValueText } from './point-values.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

/** The values refresh themselves this often; most points are polled once a minute. */
const REFRESH_SECS = 30
/** Roles that would let more rules run, the best first; the page of coverage has all. */
const GAINS_SHOWN = 5
/** Neighbours that a page lists: a plant may feed hundreds of boxes. */
const NEIGHBOURS_SHOWN = 30

export const equipmentBody = (model: EquipmentModel & SnoozeForm): Html => html`${breadcrumbs(model.building, model.equipment)}
<h1>${model.equipment.name}</h1>
<p class="lead">${leadWords(model)}</p>
${model.snooze && equipmentNotice(model.snooze, model.here)}
${openFaults(model)}
${equipmentNow(model)}
${lanesSection(model)}
<div class="columns">
<div>${overridesSection(model)}${rulesSection(model)}${snoozeAheadForm(model)}</div>
<div>${neighbours(say`Fed by`, model.fedBy)}${neighbours(say`Feeds`, model.feeds)}${costSection(model)}</div>
</div>`

function leadWords({ equipment, building, values, open, dataEnd, here }: EquipmentModel): string {
  const [kind] = EQUIPMENT_WORDS[equipment.equipment_type]
  const faulty = open.filter(item => laneOf(item, here.now) === 'faults').length
  const faults = faulty > 0 ? say`${sayCountOf(faulty, 'fault')} open` : say`no fault is open`
  const data = open.length > faulty ? say`, ${open.length - faulty} about sensors and data` : ''
  const ended = dataEnd === undefined ? '' : say` Its data ended on ${formatDay(dataEnd, here)}.`
  return say`${kind} in ${building.name}, ${sayCountOf(values.length, 'point')}; ${faults}${data}.${ended}`
}

const openFaults = ({ open, here }: EquipmentModel): Html | false =>
  open.length > 0 &&
  html`<ul class="plain open-faults">${open.map(
    ({ finding, note }) =>
      html`<li class="p${priorityOf(finding.severity)}">${priorityIcon(priorityOf(finding.severity))} <a href="${findingHref(finding.finding_id)}">${titleOf(finding)}</a> <span class="muted">since ${momentAge(finding.from, here)}; <span class="state">${faultStateSign(finding, note)} ${stateWords(finding, note).toLowerCase()}</span></span></li>`,
  )}</ul>`

/** The part that htmx asks for again. */
export function equipmentNow(model: EquipmentNow): Html {
  const { equipment, here } = model
  const path = `${equipmentHref(equipment)}/now`
  return html`<div id="now" hx-get="${path}" hx-trigger="every ${REFRESH_SECS}s, refresh" hx-target="#now" hx-swap="outerMorph" data-refresh-secs="${REFRESH_SECS}">
${drawingSection(model)}
${valuesTable(model)}
<p class="as-of">As of ${momentNow(here)} <span class="feed" role="status"></span> <a href="${equipmentHref(equipment)}">Refresh</a> ${trendsLink(model)}</p>
</div>`
}

/** The first points that have a role: what the drawing shows. */
function trendsLink({ values, building }: EquipmentNow): Html | false {
  const points = values
    .flatMap(({ point }) => (point.role === undefined || point.gone ? [] : point.point_id))
    .slice(0, TRACES_MAX)
  return points.length > 0 && html`<a href="${trendsHref({ building: building.building_id, points })}">Open in Trends</a>`
}

function drawingSection({ equipment, values, building, overrides = [] }: EquipmentNow): Html | false {
  const held = new Set(overrides.filter(({ now }) => now).map(({ point }) => point.point_id))
  const drawn = new Map(
    values.flatMap(({ point, value, state }): [string, DrawnValue][] => {
      if (point.role === undefined || point.gone) return []
      const words = pointValueText(point, value, building.unit_system)
      const more = { quiet: state !== 'ok', overridden: held.has(point.point_id) }
      return [[point.role, { role: point.role, href: pointHref(point), words, ...more }]]
    }),
  )
  const label = say`${equipment.name}, in the direction of flow; the table below has the same values`
  const wide = equipmentDrawing(equipment.equipment_type, drawn, DRAWING_WIDE, label)
  const narrow = equipmentDrawing(equipment.equipment_type, drawn, DRAWING_NARROW, label)
  return (
    wide !== undefined &&
    html`<section class="card"><h2>Now</h2><div class="for-wide">${wide}</div><div class="for-narrow">${narrow}</div></section>`
  )
}

function valuesTable(model: EquipmentNow): Html {
  const { values } = model
  if (values.length === 0) return html`<section class="card quiet-card"><p>No point belongs to this equipment yet.</p></section>`
  return html`<table class="tried values-now">
<caption class="hidden">Points and their values</caption>
<thead><tr><th scope="col">Point</th><th scope="col">Value</th><th scope="col">Last day</th><th scope="col">State</th><th scope="col">Role</th></tr></thead>
<tbody>${values.map(value => valueRow(value, model))}</tbody>
</table>`
}

function valueRow(
  { point, value, at, state, buckets, gaps }: PointValue,
  { building, here, overrides = [] }: EquipmentNow,
): Html {
  const held = overrides.find(one => one.point.point_id === point.point_id)?.now
  return html`<tr>
<td data-label="Point"><div><a href="${pointHref(point)}">${point.name}</a></div></td>
<td data-label="Value"><div><strong>${pointValueText(point, value, building.unit_system)}</strong>${held && html` ${overrideIcon(`P${held.slot}`)}`}</div></td>
<td data-label="Last day"><div>${sparkline(buckets, gaps, point.kind)}</div></td>
<td data-label="State"><div>${stateIcon(state, POINT_STATE_WORDS[state])} <span class="muted">${at === null ? '' : momentAge(at, here)}</span></div></td>
<td data-label="Role"><div>${point.role === undefined ? html`<span class="muted">no role</span>` : html`<code>${point.role}</code> <span class="muted">${roleWords(point.role)}</span>`}</div></td>
</tr>`
}

function lanesSection(model: EquipmentModel): Html {
  const { equipment, days, lanes, span, here, overrides = [] } = model
  const held = overrides.map((one): SwimLane => {
    const bars = one.held.filter(({ to }) => to > span.from)
    return {
      title: html`<a href="${pointHref(one.point)}">${one.point.name}</a>`,
      bars,
      words: say`overridden`,
      kind: 'override',
    }
  })
  const faults = lanes.map(
    ({ title, newest, bars, episodes, trueMs }): SwimLane => ({
      title: html`<a href="${findingHref(newest.finding_id)}">${title}</a>`,
      bars,
      words: say`in fault ${formatDuration(trueMs)}${episodes > 1 ? say` in ${episodes} episodes` : ''}`,
      kind: 'fault',
    }),
  )
  const all = [...faults, ...held.filter(({ bars }) => bars.length > 0)]
  return html`<section class="card" id="faults"><div class="row"><h2>Faults and overrides</h2><ul class="choices">${LANE_DAYS.map(
    choice =>
      html`<li><a href="${equipmentHref(equipment)}?days=${choice}#faults"${choice === days && html` aria-current="true"`}>${choice} days</a></li>`,
  )}</ul></div>
${all.length > 0 ? swimLanes({ ...span, timezone: here.timezone, lanes: all }) : html`<p>No fault and no override within ${days} days.</p>`}
</section>`
}

function overridesSection({ overrides, here, building, edges }: EquipmentModel): Html {
  const now = overrides?.filter(one => one.now) ?? []
  const elsewhere = html`<p>The boxes keep the history of overrides: ${edges.map(
    ({ edge_id, site_id, name }, i) =>
      html`${i > 0 && ', '}<a href="/edges/${encodeURIComponent(edge_id)}/overrides?${new URLSearchParams({ site_id })}">${name || edge_id}</a>`,
  )}.</p>`
  const known =
    now.length > 0 ? heldList(now, { here, building }) : html`<p>No point of it was overridden at its newest visit.</p>`
  const unknown = edges.length > 0 ? elsewhere : html`<p>Nobody reads priority arrays for this building.</p>`
  return html`<section class="card"><h2>Overrides now</h2>${overrides === undefined ? unknown : known}</section>`
}

const heldList = (held: HeldPoint[], { here, building }: Pick<EquipmentNow, 'here' | 'building'>): Html =>
  html`<ul class="log">${held.map(
    ({ point, now }) =>
      html`<li>${overrideIcon(`P${now!.slot}`)} <a href="${pointHref(point)}">${point.name}</a> at <strong>${pointValueText(point, Number.isNaN(now!.value) ? null : now!.value, building.unit_system)}</strong> <span class="muted">seen since ${moment(now!.from, here)}</span></li>`,
  )}</ul>`

function rulesSection({ rules, building, equipment }: EquipmentModel): Html {
  const { coverage, inFault, passed, other } = rules
  const gains = coverage?.gains ?? []
  const asked = new URLSearchParams({ building: building.building_id, equipment: equipment.equipment_id })
  const results =
    inFault + passed + other > 0 && html`<p>Newest results: ${inFault} in fault, ${passed} passed, ${other} not evaluated.</p>`
  return html`<section class="card"><h2>Rules</h2>
<p>${coverage ? say`${coverage.canRun} of ${sayCountOf(coverage.all, 'rule')} for its kind can run.` : say`Which rules can run is being computed after a change; load the page again in a moment.`} <a href="/coverage?${asked}">All rules and what they lack</a></p>
${results}
${
  gains.length > 0 &&
  html`<h3>Would let more run</h3><ul class="log">${gains
    .slice(0, GAINS_SHOWN)
    .map(
      ({ role, rule_ids }) => html`<li><code>${role}</code> ${roleWords(role)}: ${sayCountOf(rule_ids.length, 'rule')}</li>`,
    )}</ul>
<p><a href="/points?${asked}">Give points their roles</a></p>`
}</section>`
}

const neighbours = (title: string, all: EquipmentModel['feeds']): Html | false =>
  all.length > 0 &&
  html`<section class="card"><h2>${title}</h2><ul class="plain">${all
    .toSorted((a, b) => b.open - a.open)
    .slice(0, NEIGHBOURS_SHOWN)
    .map(
      one =>
        html`<li>${equipmentLink(one, one.name)} <span class="muted">${one.open > 0 ? sayCountOf(one.open, 'open fault') : say`no open fault`}</span></li>`,
    )}</ul>${all.length > NEIGHBOURS_SHOWN && html`<p class="muted">and ${all.length - NEIGHBOURS_SHOWN} more</p>`}</section>`

const costSection = ({ cost }: EquipmentModel): Html | false =>
  cost !== undefined && html`<section class="card"><h2>Waste of its faults in 30 days</h2><p>${togetherText(cost)}</p></section>`
