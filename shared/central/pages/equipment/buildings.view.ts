/** The pages of all buildings and of one: its equipment by kind, the worst first. */
import type { Building, Equipment, EquipmentType } from '#shared/core/model/model.ts'
import { EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { countOf } from '#shared/core/number-text.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type OpenCounts, faultsHref, DEFAULT_QUERY } from '#shared/central/pages/faults/fault-list.ts'
import { PRIORITIES, type Priority } from '#shared/core/findings/finding.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { priorityIcon } from '#shared/central/ui/icons.ts'
import { breadcrumbs, buildingHref, equipmentHref, equipmentLink } from '#shared/central/ui/links.ts'
import { formatDay, type Here, momentAge } from '#shared/central/ui/moment.ts'

export type BuildingRow = { building: Building; equipment: number; points: number; open: OpenCounts; last_run_at: number | null }
export type EquipmentRow = { equipment: Equipment; points: number; open: OpenCounts; parent: Equipment | undefined }
export type BuildingPageModel = {
  row: BuildingRow
  rows: EquipmentRow[]
  /** Points of no equipment. */
  loose: number
  dataEnd: number | undefined
  here: Here
}

export const buildingsBody = (rows: BuildingRow[], here: Here): Html => html`<h1>Buildings</h1>
<p class="lead">${countOf(rows.length, 'building')}.</p>
${
  rows.length > 0
    ? html`<table class="fleet"><thead><tr><th scope="col">Building</th><th scope="col">Open faults</th><th scope="col">Equipment</th><th scope="col">Points</th><th scope="col">Last check for faults</th></tr></thead>
<tbody>${rows.map(
        ({ building, equipment, points, open, last_run_at }) => html`<tr>
<td data-label="Building" class="what"><div><a href="${buildingHref(building.building_id)}">${building.name}</a><span class="muted">${building.site_id}</span></div></td>
<td data-label="Open faults"><div>${openMarks(open)}</div></td>
<td data-label="Equipment"><div>${equipment}</div></td>
<td data-label="Points"><div>${points}</div></td>
<td data-label="Last check"><div>${last_run_at === null ? 'not yet' : momentAge(last_run_at, here)}</div></td>
</tr>`,
      )}</tbody></table>`
    : html`<section class="card quiet-card"><h2>No building yet</h2><p>A building appears with its first reading, or with a package of the page <a href="/import">Import</a>.</p></section>`
}`

/** Open faults by priority, as marks with their number. */
function openMarks(open: OpenCounts): Html {
  const total = PRIORITIES.reduce((sum, priority) => sum + open[priority], 0)
  if (total === 0) return html`<span class="muted">none</span>`
  const mark = (priority: Priority) =>
    open[priority] > 0 && html`<span class="p${priority}">${open[priority]} ${priorityIcon(priority)}</span>`
  return html`<span class="by-priority">${PRIORITIES.map(mark)}</span>`
}

export function buildingBody(model: BuildingPageModel): Html {
  const { row, rows, loose, dataEnd, here } = model
  const { building, open, last_run_at, points } = row
  const total = PRIORITIES.reduce((sum, priority) => sum + open[priority], 0)
  const faults = faultsHref({ ...DEFAULT_QUERY, building: building.building_id, state: 'active' })
  const kinds = EQUIPMENT_TYPES.flatMap(type => {
    const own = rows.filter(({ equipment }) => equipment.equipment_type === type)
    return own.length > 0 ? [{ type, own }] : []
  })
  return html`${breadcrumbs(building, undefined)}
<h1>${building.name}</h1>
<p class="lead">${countOf(rows.length, 'piece')} of equipment with ${countOf(points, 'point')}; ${total > 0 ? html`<a href="${faults}">${countOf(total, 'fault')} open</a>` : 'no fault is open'}. ${last_run_at === null ? 'No check for faults has finished yet.' : html`Last check ${momentAge(last_run_at, here)}.`} ${dataEnd !== undefined && `Its data ended on ${formatDay(dataEnd, here)}.`}</p>
${rows.length === 0 && html`<section class="card quiet-card"><h2>No equipment yet</h2><p>Equipment comes with the points of a device or a package. <a href="/points?building=${encodeURIComponent(building.building_id)}">Points and their roles</a></p></section>`}
${kinds.map(({ type, own }) => kindTable(type, own))}
${loose > 0 && html`<p>${countOf(loose, 'point')} of no equipment: <a href="/points?building=${encodeURIComponent(building.building_id)}">Points and their roles</a></p>`}`
}

const kindTable = (
  type: EquipmentType,
  rows: EquipmentRow[],
): Html => html`<h2>${EQUIPMENT_WORDS[type][1]} <span class="count">${rows.length}</span></h2>
<table class="fleet kinds"><thead><tr><th scope="col">Equipment</th><th scope="col">Open faults</th><th scope="col">Points</th><th scope="col">Fed by</th></tr></thead>
<tbody>${rows.map(
  ({ equipment, points, open, parent }) => html`<tr>
<td data-label="Equipment" class="what"><div>${equipmentLink(equipment, equipment.name)}</div></td>
<td data-label="Open faults"><div>${openMarks(open)}</div></td>
<td data-label="Points"><div>${points}</div></td>
<td data-label="Fed by"><div>${parent ? html`<a href="${equipmentHref(parent)}">${parent.name}</a>` : html`<span class="muted">–</span>`}</div></td>
</tr>`,
)}</tbody></table>`
