/** The pages of all buildings and of one: its equipment by kind, the worst first. */
import type { Building, Equipment, EquipmentType } from '#shared/core/model/model.ts'
import { EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { LastCheck } from '#shared/central/fdd/rule-owner.ts'
import { faultsHref, DEFAULT_QUERY } from '#shared/central/pages/faults/fault-list.ts'
import type { OpenCounts } from '#shared/central/pages/faults/open-counts.ts'
import type { BuildingExtent } from '#shared/core/series/history-quota.ts'
import { PRIORITIES, type Priority } from '#shared/core/findings/finding.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { overrideIcon, priorityIcon } from '#shared/central/ui/icons.ts'
import { breadcrumbs, BUILDINGS_PATH, buildingHref, equipmentHref, equipmentLink } from '#shared/central/ui/links.ts'
import { hasWords, searchWords } from '#shared/core/search/search-index.ts'
import { type ListPart, listSearch, pager, partOf, SEARCHED_FROM } from '#shared/central/ui/pager.ts'
import { formatDay, type Here, momentAge } from '#shared/central/ui/moment.ts'
import { figuresLater } from './building-figures.ts'
import type { BuildingHistory } from './building-model.ts'
import { historyWords } from '#shared/central/pages/setup.view.ts'
import { buildingHealth, faultMap, overridesByAge } from './building-sections.ts'
import { branchList, branchOf } from './equipment-tree.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

/** Rows of one kind on the page of a building, the worst; a link leads to all. */
const ROWS_SHOWN = 10
/** Rows of a page that lists one kind. */
const KIND_ROWS = 12

export type BuildingRow = { building: Building; equipment: number; points: number; open: OpenCounts; checked: LastCheck }
export type BuildingsModel = {
  part: ListPart<BuildingRow>
  /** Of all buildings, whatever is searched. */
  total: number
  q: string
  here: Here
}
export type EquipmentRow = { equipment: Equipment; points: number; open: OpenCounts; parent: Equipment | undefined }
export type BuildingPageModel = {
  row: BuildingRow
  rows: EquipmentRow[]
  /** Points of no equipment. */
  loose: number
  history: BuildingHistory
  /** What is kept of its sealed history; undefined where there is none yet. */
  kept: BuildingExtent | undefined
  /** The only kind that is listed, page after page. */
  kind: EquipmentType | undefined
  /** Words that the listed equipment of that kind has, and which part of it is shown. */
  q: string
  page: number
  dataEnd: number | undefined
  here: Here
}

export const buildingsBody = ({ part, total, q, here }: BuildingsModel): Html => html`<h1>Buildings</h1>
<p class="lead">${sayCountOf(total, 'building')}.</p>
${(total > SEARCHED_FROM || q !== '') && listSearch({ path: BUILDINGS_PATH, state: {}, q, label: say`Building or site contains` })}
${part.rows.length > 0 ? buildingsTable(part.rows, here) : noBuilding(total, q)}
${pager(part, page => `${BUILDINGS_PATH}?${new URLSearchParams({ ...(q !== '' && { q }), page: String(page) })}`)}`

const noBuilding = (total: number, q: string): Html =>
  total > 0
    ? html`<section class="card quiet-card"><h2>No building contains “${q}”.</h2></section>`
    : html`<section class="card quiet-card"><h2>No building yet</h2><p>A building appears with its first reading, or with a package of the page <a href="/import">Import</a>.</p></section>`

const buildingsTable = (
  rows: BuildingRow[],
  here: Here,
): Html => html`<table class="fleet"><thead><tr><th scope="col">Building</th><th scope="col">Open faults</th><th scope="col">Equipment</th><th scope="col">Points</th><th scope="col">Last check for faults</th></tr></thead>
<tbody>${rows.map(
  ({ building, equipment, points, open, checked }) => html`<tr>
<td data-label="Building" class="what"><div><a href="${buildingHref(building.building_id)}">${building.name}</a><span class="muted">${building.site_id}</span></div></td>
<td data-label="Open faults"><div>${openMarks(open)}</div></td>
<td data-label="Equipment"><div>${equipment}</div></td>
<td data-label="Points"><div>${points}</div></td>
<td data-label="Last check"><div>${checkWords(checked, here)}</div></td>
</tr>`,
)}</tbody></table>`

/** A box of an earlier version does not say when it looked. */
const checkWords = ({ at, isOfBox }: LastCheck, here: Here): Html | string =>
  at === null ? (isOfBox ? say`by its box, which does not say when` : say`not yet`) : momentAge(at, here)

/** Open faults by priority, as marks with their number. */
function openMarks(open: OpenCounts): Html {
  const total = PRIORITIES.reduce((sum, priority) => sum + open[priority], 0)
  if (total === 0) return html`<span class="muted">none</span>`
  const mark = (priority: Priority) =>
    open[priority] > 0 && html`<span class="p${priority}">${open[priority]} ${priorityIcon(priority)}</span>`
  return html`<span class="by-priority">${PRIORITIES.map(mark)}</span>`
}

export function buildingBody(model: BuildingPageModel): Html {
  const { row, rows, loose, history, kept, kind, dataEnd, here } = model
  const { building, open, checked, points } = row
  const { building_id, timezone } = building
  const names = new Map(rows.map(({ equipment }) => [equipment.equipment_id, equipment.name]))
  const total = PRIORITIES.reduce((sum, priority) => sum + open[priority], 0)
  const faults = faultsHref({ ...DEFAULT_QUERY, building: building.building_id, state: 'active' })
  const kinds = (kind ? [kind] : EQUIPMENT_TYPES).flatMap(type => {
    const own = rows.filter(({ equipment }) => equipment.equipment_type === type)
    return own.length > 0 ? [{ type, own }] : []
  })
  return html`${breadcrumbs(building, undefined)}
<h1>${building.name}</h1>
<p class="lead">${buildingHealth({ ...history, open: total, checked, now: here.now })}</p>
<p class="muted">${sayCountOf(rows.length, 'piece')} of equipment with ${sayCountOf(points, 'point')}; ${total > 0 ? html`<a href="${faults}">${sayCountOf(total, 'fault')} open</a>` : say`no fault is open`}. ${dataEnd !== undefined && say`Its data ended on ${formatDay(dataEnd, here)}.`}</p>
${kept && html`<p class="muted">${historyWords(kept)}</p>`}
${kind && html`<p><a href="${buildingHref(building_id)}">All of ${building.name}</a></p>`}
${rows.length === 0 && html`<section class="card quiet-card"><h2>No equipment yet</h2><p>Equipment comes with the points of a device or a package. <a href="/points?building=${encodeURIComponent(building.building_id)}">Points and their roles</a></p></section>`}
${!kind && rows.length > 0 && faultMap(history, building_id, timezone)}
${kinds.map(({ type, own }) => (kind ? kindPages(type, own, model) : kindTable(type, own, own.slice(0, ROWS_SHOWN), building_id)))}
${loose > 0 && html`<p>${sayCountOf(loose, 'point')} of no equipment: <a href="/points?building=${encodeURIComponent(building.building_id)}">Points and their roles</a></p>`}
${
  !kind &&
  rows.length > 0 &&
  html`<div class="columns"><section class="card" id="tree"><h2>What feeds what</h2>${branchList(branchOf(building, rows, [], undefined))}</section>
<div>${overridesByAge(history.overrides, building_id, id => names.get(id) ?? id, here)}</div></div>
${figuresLater(building)}`
}`
}

function kindPages(type: EquipmentType, all: EquipmentRow[], { q, page, row: { building } }: BuildingPageModel): Html {
  const path = buildingHref(building.building_id)
  const found = all.filter(({ equipment, parent }) =>
    hasWords(searchWords(equipment.name, equipment.equipment_id, parent?.name), q),
  )
  const part = partOf(found, page, KIND_ROWS)
  const hrefOf = (one: number) => `${path}?${new URLSearchParams({ kind: type, ...(q !== '' && { q }), page: String(one) })}`
  return html`${all.length > KIND_ROWS && listSearch({ path, state: { kind: type }, q, label: say`Name or id` })}
${found.length > 0 ? kindTable(type, found, part.rows) : html`<section class="card quiet-card"><p>No equipment of this kind has “${q}” in its name or id.</p></section>`}
${pager(part, hrefOf)}`
}

const kindTable = (
  type: EquipmentType,
  all: EquipmentRow[],
  shown: EquipmentRow[],
  building_id?: string,
): Html => html`<h2>${EQUIPMENT_WORDS[type][1]} <span class="count">${all.length}</span></h2>
<table class="fleet kinds"><thead><tr><th scope="col">Equipment</th><th scope="col">Open faults</th><th scope="col">Points</th><th scope="col">Fed by</th></tr></thead>
<tbody>${shown.map(
  ({ equipment, points, open, parent }) => html`<tr>
<td data-label="Equipment" class="what"><div>${equipmentLink(equipment, equipment.name)}</div></td>
<td data-label="Open faults"><div>${openMarks(open)}${open.overrides > 0 && html` ${overrideIcon(sayCountOf(open.overrides, 'override'))}`}</div></td>
<td data-label="Points"><div>${points}</div></td>
<td data-label="Fed by"><div>${parent ? html`<a href="${equipmentHref(parent)}">${parent.name}</a>` : html`<span class="muted">–</span>`}</div></td>
</tr>`,
)}</tbody></table>
${building_id !== undefined && all.length > shown.length && html`<p><a href="${buildingHref(building_id)}?kind=${type}">and ${sayCountOf(all.length - shown.length, 'other')}, none worse</a></p>`}`
