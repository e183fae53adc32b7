/** The page of all buildings, and that of one. Where there is one building, the first is the second. */
import type { Finding } from '#shared/core/findings/finding.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import type { Building } from '#shared/core/model/model.ts'
import { type Call, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { dataEnds } from '#shared/central/pages/data-freshness.ts'
import { countOpen, type OpenCounts, toRows } from '#shared/central/pages/faults/fault-list.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { BUILDINGS_PATH } from '#shared/central/ui/links.ts'
import { buildingBody, type BuildingPageModel, type BuildingRow, buildingsBody, type EquipmentRow } from './buildings.view.ts'

type Stores = Pick<CentralContext, 'model' | 'findings' | 'notes' | 'results' | 'edges' | 'historian'>
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>

/** Most active findings of one building that a page counts. */
const ACTIVE_MAX = 5000

export const buildingPages = (context: Stores, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: BUILDINGS_PATH,
    auth: 'viewer',
    summary: 'The page of buildings',
    handle: call => {
      const buildings = context.model.buildings()
      if (buildings.length === 1) return showBuilding(context, layout, call, buildings[0]!)
      const rows = buildings.map(building => buildingRow(context, building, layout.here().now))
      const worstFirst = rows.toSorted((a, b) => b.open[1] - a.open[1] || b.open[2] - a.open[2])
      return layout.document(call, { title: 'Buildings', current: BUILDINGS_PATH }, buildingsBody(worstFirst, layout.here()))
    },
  }),
  route({
    method: 'GET',
    path: `${BUILDINGS_PATH}/:building_id`,
    auth: 'viewer',
    summary: 'The page of one building',
    params: strict({ building_id: PAGE_ID }),
    problems: ['unknown_building'],
    handle: call => showBuilding(context, layout, call, needBuilding(context.model, call.params.building_id)),
  }),
]

async function showBuilding(context: Stores, layout: PageLayout, call: AnyCall, building: Building) {
  const here = { ...layout.here(), timezone: building.timezone }
  const dataEnd = (await dataEnds(context, [building.building_id], here.now)).get(building.building_id)
  const model: BuildingPageModel = { ...equipmentRows(context, building, here.now), dataEnd, here }
  return layout.document(call, { title: building.name, current: BUILDINGS_PATH, here }, buildingBody(model))
}

/** Active findings of a building. */
const activeOf = ({ findings }: Stores, building_id: string): Finding[] =>
  findings.list({ building_id, state: 'active', limit: ACTIVE_MAX })

const countsOf = ({ notes }: Stores, findings: Finding[], now: number): OpenCounts =>
  countOpen(
    toRows(
      findings.map(finding => ({ finding, note: notes.get(finding.finding_id) })),
      now,
    ),
  )

function buildingRow(context: Stores, building: Building, now: number): BuildingRow {
  const { model } = context
  const { building_id } = building
  return {
    building,
    equipment: model.equipment(building_id).length,
    points: model.points(building_id).length,
    open: countsOf(context, activeOf(context, building_id), now),
    last_run_at: lastRunAt(context, building_id),
  }
}

const lastRunAt = ({ results }: Stores, building_id: string): number | null =>
  results.runs({ building_id, limit: 1 })[0]?.finished_at ?? null

const NONE_OPEN: OpenCounts = { 1: 0, 2: 0, 3: 0, data: 0, overrides: 0 }
const addCounts = (a: OpenCounts, b: OpenCounts): OpenCounts => ({
  1: a[1] + b[1],
  2: a[2] + b[2],
  3: a[3] + b[3],
  data: a.data + b.data,
  overrides: a.overrides + b.overrides,
})

function equipmentRows(context: Stores, building: Building, now: number): Omit<BuildingPageModel, 'dataEnd' | 'here'> {
  const { building_id } = building
  const all = context.model.equipment(building_id)
  const points = Map.groupBy(context.model.points(building_id), ({ equipment_id = '' }) => equipment_id)
  const findings = activeOf(context, building_id)
  const active = Map.groupBy(findings, ({ equipment_id }) => equipment_id)
  const byId = new Map(all.map(equipment => [equipment.equipment_id, equipment]))
  const rows = all.map((equipment): EquipmentRow => {
    const { equipment_id, parent_id } = equipment
    const own = active.get(equipment_id)
    const open = own ? countsOf(context, own, now) : NONE_OPEN
    return { equipment, points: points.get(equipment_id)?.length ?? 0, open, parent: byId.get(parent_id ?? '') }
  })
  const worst = ({ open }: EquipmentRow) => open[1] * 1e6 + open[2] * 1e3 + open[3]
  return {
    row: {
      building,
      equipment: all.length,
      points: [...points.values()].reduce((sum, own) => sum + own.length, 0),
      open: rows.map(({ open }) => open).reduce(addCounts, NONE_OPEN),
      last_run_at: lastRunAt(context, building_id),
    },
    rows: rows.toSorted((a, b) => worst(b) - worst(a)),
    loose: points.get('')?.length ?? 0,
  }
}
