import { pointObject } from '#shared/core/bacnet/object-name.ts'
import { Type } from '@sinclair/typebox'
import { ID, type Point } from '#shared/core/model/model.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import { formatInstant } from '#shared/core/time.ts'
import { oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { ASSIGNMENT, ASSIGNMENTS_MAX, saveAssignments } from '#shared/central/commands/assignments.ts'
import {
  BUILDING_BODY,
  EQUIPMENT_BODY,
  POINT_BODY,
  saveBuildings,
  saveEquipment,
  savePoints,
} from '#shared/central/commands/model.ts'
import { cutPage, PAGE } from './list.ts'
import { answerOf, BUILDING_RECORD, EQUIPMENT_RECORD, pageAnswer, POINT_RECORD, SAVED } from './schemas/record-schemas.ts'

const MERGE_OR_REPLACE = oneOf(['merge', 'replace'])
/** Records of one request. */
const RECORDS_MAX = 5000
const listOf = <T extends Parameters<typeof Type.Array>[0]>(item: T) => Type.Array(item, { minItems: 1, maxItems: RECORDS_MAX })

const ASSIGNED = answerOf({
  ...{ saved: Type.Integer(), unchanged: Type.Integer(), removed: Type.Integer() },
  errors: Type.Array(Type.Unknown(), { maxItems: 0 }),
})

const OF_BUILDING = strict({ building_id: ID, ...PAGE })
const DRY_RUN = strict({ dry_run: Type.Optional(Type.Boolean()) })

export const modelRoutes = (context: CentralContext): Route[] => [
  ...readRoutes(context),
  ...writeRoutes(context),
  assignRoute(context),
]

const readRoutes = ({ model }: CentralContext): Route[] => [
  route({
    method: 'GET',
    path: '/api/model/buildings',
    auth: 'viewer',
    summary: 'Buildings',
    query: strict({ building_id: Type.Optional(ID), ...PAGE }),
    reply: pageAnswer('buildings', BUILDING_RECORD),
    problems: ['bad_cursor'],
    handle: ({ query }) => {
      const asked = model.buildings().filter(one => query.building_id === undefined || one.building_id === query.building_id)
      const { items, ...more } = cutPage(asked, query, one => one.building_id)
      return { ok: true, buildings: items, ...more }
    },
  }),
  route({
    method: 'GET',
    path: '/api/model/equipment',
    auth: 'viewer',
    summary: 'Equipment of a building',
    query: OF_BUILDING,
    reply: pageAnswer('equipment', EQUIPMENT_RECORD),
    problems: ['unknown_building', 'bad_cursor'],
    handle: ({ query }) => {
      needBuilding(model, query.building_id)
      const { items, ...more } = cutPage(model.equipment(query.building_id), query, one => one.equipment_id)
      return { ok: true, equipment: items, ...more }
    },
  }),
  route({
    method: 'GET',
    path: '/api/model/points',
    auth: 'viewer',
    summary: 'Points of a building, or of one equipment',
    query: strict({ building_id: ID, equipment_id: Type.Optional(ID), ...PAGE }),
    reply: pageAnswer('points', POINT_RECORD),
    problems: ['unknown_building', 'bad_cursor'],
    handle: ({ query }) => {
      const { building_id, equipment_id } = query
      needBuilding(model, building_id)
      const points = model.points(building_id).filter(one => equipment_id === undefined || one.equipment_id === equipment_id)
      const { items, ...more } = cutPage(points, query, one => one.point_id)
      return { ok: true, points: items.map(pointView), ...more }
    },
  }),
]

const dryRunOf = ({ dry_run }: { dry_run?: boolean }) => dry_run && { dry_run }

const writeRoutes = ({ site_id, ...context }: CentralContext): Route[] => [
  route({
    method: 'POST',
    path: '/api/model/buildings',
    auth: 'operator',
    summary: 'Adds or changes buildings',
    body: strict({ buildings: listOf(BUILDING_BODY) }),
    query: DRY_RUN,
    reply: SAVED,
    action: 'put_buildings',
    idempotent: true,
    problems: ['invalid'],
    handle: call => {
      const saved = saveBuildings(
        context,
        call,
        call.body.buildings.map(one => ({ site_id, ...one })),
        call.query.dry_run,
      )
      return { ok: true, saved, ...dryRunOf(call.query) }
    },
  }),
  route({
    method: 'POST',
    path: '/api/model/equipment',
    auth: 'operator',
    summary: 'Adds or changes equipment',
    body: strict({ equipment: listOf(EQUIPMENT_BODY) }),
    query: DRY_RUN,
    reply: SAVED,
    action: 'put_equipment',
    idempotent: true,
    problems: ['unknown_building', 'invalid'],
    handle: call => ({
      ok: true,
      saved: saveEquipment(context, call, call.body.equipment, call.query.dry_run),
      ...dryRunOf(call.query),
    }),
  }),
  route({
    method: 'POST',
    path: '/api/model/points',
    auth: 'operator',
    summary: 'Adds or changes points',
    body: strict({ points: listOf(POINT_BODY) }),
    query: DRY_RUN,
    reply: SAVED,
    action: 'put_points',
    idempotent: true,
    problems: ['unknown_building', 'unknown_equipment', 'invalid'],
    handle: call => ({
      ok: true,
      saved: savePoints(context, call, call.body.points, call.query.dry_run),
      ...dryRunOf(call.query),
    }),
  }),
]

const assignRoute = ({ model }: CentralContext) =>
  route({
    method: 'POST',
    path: '/api/model/assignments/save',
    auth: 'operator',
    summary: 'Assigns points to roles of equipment, all of them or none',
    body: strict({
      confirm: Type.Optional(Type.Boolean()),
      building_id: ID,
      assignments: Type.Array(ASSIGNMENT, { maxItems: ASSIGNMENTS_MAX }),
      mode: Type.Optional(MERGE_OR_REPLACE),
    }),
    query: DRY_RUN,
    reply: ASSIGNED,
    action: 'assign_points',
    idempotent: true,
    problems: ['confirm_required', 'unknown_building', 'invalid'],
    handle: call => {
      const { confirm, building_id, assignments, mode = 'merge' } = call.body
      if (confirm !== true) throw new Problem('confirm_required', 'This changes the model; send confirm: true')
      const counts = saveAssignments({ model }, call, { building_id, assignments, mode }, call.query.dry_run)
      return { ok: true, ...counts, errors: [] }
    },
  })

function pointView({ gone, ...point }: Point) {
  const object = pointObject(point.source)
  return { ...point, ...(object !== undefined && { object }), ...(gone && { gone_at: formatInstant(gone.at) }) }
}
