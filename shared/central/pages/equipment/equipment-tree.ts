/** Equipment below what feeds it, with the open faults and overrides of each branch; the points of an equipment are its leaves. */
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import { PRIORITIES } from '#shared/core/findings/finding.ts'
import { sayCountOf } from '#shared/node/http/language.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { overrideIcon, priorityIcon } from '#shared/central/ui/icons.ts'
import { buildingHref, equipmentHref, pointHref } from '#shared/central/ui/links.ts'
import { addCounts, NONE_OPEN, type OpenCounts } from '#shared/central/pages/faults/open-counts.ts'

type TreeRow = { equipment: Equipment; open: OpenCounts; points: number }
/** One branch: the rows below `of`, of the whole building where it is undefined, and the points of `of`. */
type Branch = { building: Building; rows: TreeRow[]; points: Point[]; isRoot: boolean }

/** @param rows all of a building. @param of undefined for what nothing feeds */
export function branchOf(building: Building, rows: readonly TreeRow[], points: readonly Point[], of: string | undefined): Branch {
  const known = new Set(rows.map(({ equipment }) => equipment.equipment_id))
  const parentOf = ({ parent_id, equipment_id }: Equipment) =>
    parent_id !== undefined && parent_id !== equipment_id && known.has(parent_id) ? parent_id : undefined
  const below = Map.groupBy(rows, ({ equipment }) => parentOf(equipment))
  /** `above` ends what feeds itself in a circle. */
  const withBranch = (row: TreeRow, above: ReadonlySet<string>): TreeRow => {
    const { equipment_id } = row.equipment
    if (above.has(equipment_id)) return { ...row, open: NONE_OPEN }
    const path = new Set([...above, equipment_id])
    const under = (below.get(equipment_id) ?? []).map(child => withBranch(child, path))
    return { ...row, open: under.reduce((sum, { open }) => addCounts(sum, open), row.open) }
  }
  return {
    building,
    rows: (below.get(of) ?? []).map(row => withBranch(row, new Set())),
    points: of === undefined ? [] : points.filter(({ equipment_id, gone }) => equipment_id === of && !gone),
    isRoot: of === undefined,
  }
}

/** Branches of one level that are seen at once, the worst. */
const BRANCHES_SHOWN = 12

export const branchList = ({ building, rows, points, isRoot }: Branch): Html => {
  const rest = rows.slice(BRANCHES_SHOWN)
  return html`<ul class="tree">${rows.slice(0, BRANCHES_SHOWN).map(row => branchItem(building, row))}${
    rest.length > 0 &&
    html`<li><details><summary>${sayCountOf(rest.length, 'other')}</summary><ul class="tree">${rest.map(row => branchItem(building, row))}</ul></details></li>`
  }${points.map(point => html`<li><a href="${pointHref(point)}">${point.name}</a> ${point.role !== undefined && html`<code>${point.role}</code>`}</li>`)}${
    !isRoot && rows.length + points.length === 0 && html`<li class="muted">Nothing below it.</li>`
  }</ul>`
}

/** The branch opens when somebody looks into it; without script its name leads to the equipment. */
const branchItem = ({ building_id }: Building, { equipment, open, points }: TreeRow): Html =>
  html`<li><details hx-get="${buildingHref(building_id)}/tree?${new URLSearchParams({ of: equipment.equipment_id })}" hx-trigger="toggle once" hx-target="find .branch" hx-swap="innerHTML"><summary>${equipment.name} ${openMarks(open)} <span class="muted">${sayCountOf(points, 'point')}</span></summary>
<p><a href="${equipmentHref(equipment)}">Page of ${equipment.name}</a></p><div class="branch"></div></details></li>`

/** Open faults by priority and overrides, as marks with their number; nothing where there is none. */
const openMarks = (open: OpenCounts): Html =>
  html`<span class="by-priority">${PRIORITIES.map(
    priority => open[priority] > 0 && html`<span class="p${priority}">${open[priority]} ${priorityIcon(priority)}</span>`,
  )}${open.overrides > 0 && overrideIcon(sayCountOf(open.overrides, 'override'))}</span>`
