/** The page of all buildings, and that of one. Where there is one building, the first is the second. */
import { Type } from '@sinclair/typebox'
import { needBuilding, needEquipment } from '#shared/core/lookup.ts'
import { type Building, EQUIPMENT_TYPES, type EquipmentType } from '#shared/core/model/model.ts'
import { type Call, oneOf, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { lastChecks } from '#shared/central/fdd/rule-owner.ts'
import { dataEnds } from '#shared/central/pages/data-freshness.ts'
import { addCounts, NONE_OPEN, openFaultsByBuilding, openFaultsByEquipment } from '#shared/central/pages/faults/open-counts.ts'
import { SEARCH_TEXT } from '#shared/central/api/search.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { abortOnClose } from '#shared/central/analytics/service.ts'
import { BUILDINGS_PATH } from '#shared/central/ui/links.ts'
import type { Here } from '#shared/central/ui/moment.ts'
import { PAGE_NUMBER, partOf } from '#shared/central/ui/pager.ts'
import { hasWords, searchWords } from '#shared/core/search/search-index.ts'
import { figuresSection } from './building-figures.ts'
import { buildingHistory } from './building-model.ts'
import { branchList, branchOf } from './equipment-tree.ts'
import {
  buildingBody,
  type BuildingPageModel,
  type BuildingRow,
  buildingsBody,
  type BuildingsModel,
  type EquipmentRow,
} from './buildings.view.ts'
import { say } from '#shared/node/http/language.ts'

type Stores = Pick<
  CentralContext,
  'model' | 'findings' | 'notes' | 'results' | 'edges' | 'historian' | 'historyExtents' | 'prices' | 'analytics' | 'rules'
>
type Asked = { kind?: EquipmentType | ''; q?: string; page?: number }
type AnyCall = Pick<Call<unknown, unknown, unknown>, 'caller' | 'reply'>

/** Buildings on one page: a hub of thousands would have a page of a megabyte. */
const BUILDINGS_SHOWN = 50
const BUILDING = strict({ building_id: PAGE_ID })

export const buildingPages = (context: Stores, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: BUILDINGS_PATH,
    auth: 'viewer',
    summary: 'The page of buildings',
    query: strict({ q: Type.Optional(SEARCH_TEXT), page: PAGE_NUMBER }),
    handle: call => {
      const buildings = layout.modelFor(call.caller).buildings()
      if (buildings.length === 1) return showBuilding(context, layout, call, buildings[0]!)
      const model = buildingsModel(context, buildings, call.query, layout.here())
      return layout.document(call, { title: say`Buildings`, current: BUILDINGS_PATH, here: model.here }, buildingsBody(model))
    },
  }),
  route({
    method: 'GET',
    path: `${BUILDINGS_PATH}/:building_id`,
    auth: 'viewer',
    summary: 'The page of one building',
    params: BUILDING,
    query: strict({ kind: Type.Optional(oneOf(['', ...EQUIPMENT_TYPES])), q: Type.Optional(SEARCH_TEXT), page: PAGE_NUMBER }),
    problems: ['unknown_building'],
    handle: call =>
      showBuilding(context, layout, call, needBuilding(layout.modelFor(call.caller), call.params.building_id), call.query),
  }),
  route({
    method: 'GET',
    path: `${BUILDINGS_PATH}/:building_id/figures`,
    auth: 'viewer',
    summary: 'The part of the page of one building with comfort, running hours, energy and coverage',
    params: BUILDING,
    problems: ['unknown_building'],
    handle: async ({ params, reply, caller }) => {
      const building = needBuilding(layout.modelFor(caller), params.building_id)
      const { now } = layout.here()
      const until = dataEnds(context, [building.building_id], now).get(building.building_id) ?? now
      return figuresSection(context, building, until, now, abortOnClose(reply))
    },
  }),
  route({
    method: 'GET',
    path: `${BUILDINGS_PATH}/:building_id/tree`,
    auth: 'viewer',
    summary: 'What an equipment feeds, and its points, for the tree of the page of one building',
    params: BUILDING,
    query: strict({ of: PAGE_ID }),
    problems: ['unknown_building', 'unknown_equipment'],
    handle: ({ params, query }) => {
      const building = needBuilding(context.model, params.building_id)
      needEquipment(context.model, building.building_id, query.of)
      const { rows } = equipmentRows(context, building, layout.here().now)
      return branchList(branchOf(building, rows, context.model.points(building.building_id), query.of))
    },
  }),
]

async function showBuilding(context: Stores, layout: PageLayout, call: AnyCall, building: Building, asked: Asked = {}) {
  const kind = asked.kind || undefined
  const here = { ...layout.here(), timezone: building.timezone }
  const dataEnd = dataEnds(context, [building.building_id], here.now).get(building.building_id)
  const listed = equipmentRows(context, building, here.now)
  const equipment = listed.rows.map(one => one.equipment)
  const history = buildingHistory(context, building, equipment, dataEnd ?? here.now, here.now)
  const [kept] = context.historyExtents(building.building_id)
  const { q = '', page = 1 } = asked
  const model: BuildingPageModel = { ...listed, history, kept, kind, q, page, dataEnd, here }
  return layout.document(call, { title: building.name, current: BUILDINGS_PATH, here }, buildingBody(model))
}

/** The worst first, in parts. What the order does not depend on is read for the shown part alone. */
function buildingsModel(context: Stores, buildings: Building[], { q = '', page }: Asked, here: Here): BuildingsModel {
  const { model } = context
  const openOf = openFaultsByBuilding(context, here.now)
  const listed = buildings
    .filter(({ name, building_id, site_id }) => hasWords(searchWords(name, building_id, site_id), q))
    .map(building => ({ building, open: openOf.get(building.building_id) ?? NONE_OPEN }))
    .toSorted((a, b) => b.open[1] - a.open[1] || b.open[2] - a.open[2])
  const part = partOf(listed, page, BUILDINGS_SHOWN)
  const checkOf = lastChecks(context)
  const rows = part.rows.map(({ building, open }): BuildingRow => {
    const { building_id } = building
    return {
      ...{ building, open, checked: checkOf(building_id) },
      equipment: model.equipment(building_id).length,
      points: model.points(building_id).length,
    }
  })
  return { part: { ...part, rows }, total: buildings.length, q, here }
}

function equipmentRows(context: Stores, building: Building, now: number): Pick<BuildingPageModel, 'row' | 'rows' | 'loose'> {
  const { building_id } = building
  const all = context.model.equipment(building_id)
  const points = Map.groupBy(context.model.points(building_id), ({ equipment_id = '' }) => equipment_id)
  const openOf = openFaultsByEquipment(context, now, building_id)
  const byId = new Map(all.map(equipment => [equipment.equipment_id, equipment]))
  const rows = all.map((equipment): EquipmentRow => {
    const { equipment_id, parent_id } = equipment
    const open = openOf.get(equipment_id) ?? NONE_OPEN
    return { equipment, points: points.get(equipment_id)?.length ?? 0, open, parent: byId.get(parent_id ?? '') }
  })
  const worst = ({ open }: EquipmentRow) => open[1] * 1e6 + open[2] * 1e3 + open[3]
  return {
    row: {
      building,
      equipment: all.length,
      points: [...points.values()].reduce((sum, own) => sum + own.length, 0),
      open: rows.map(({ open }) => open).reduce(addCounts, NONE_OPEN),
      checked: lastChecks(context)(building_id),
    },
    rows: rows.toSorted((a, b) => worst(b) - worst(a)),
    loose: points.get('')?.length ?? 0,
  }
}
