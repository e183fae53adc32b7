import { Type } from '@sinclair/typebox'
import { type Equipment, EQUIPMENT_TYPES, ID, type Point, POINT_KINDS, PROTOCOLS } from '#shared/core/model/model.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import { nearestRoles, ROLES } from '#shared/core/model/role.ts'
import { conversion, unitCode } from '#shared/core/model/unit.ts'
import { formatInstant } from '#shared/core/time.ts'
import { WINDOWS_MAX } from '#shared/core/csv/quality.ts'
import { isZone } from '#shared/core/time-zone.ts'
import { oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { ASSIGNMENT, ASSIGNMENTS_MAX, saveAssignments } from '#shared/central/commands/assignments.ts'
import { subjectOf } from '#shared/central/commands/command.ts'
import { cutPage, PAGE } from './list.ts'

const NAME = Type.String({ minLength: 1, maxLength: 256 })
const MERGE_OR_REPLACE = oneOf(['merge', 'replace'])
/** Records of one request. */
const RECORDS_MAX = 5000
const listOf = <T extends Parameters<typeof Type.Array>[0]>(item: T) => Type.Array(item, { minItems: 1, maxItems: RECORDS_MAX })

const BUILDING = strict({
  building_id: ID,
  name: NAME,
  site_id: Type.Optional(ID),
  timezone: Type.String({ maxLength: 64 }),
  unit_system: oneOf(['us', 'si']),
  lat: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
  lon: Type.Optional(Type.Number({ minimum: -180, maximum: 180 })),
})
const EQUIPMENT = strict({
  equipment_id: ID,
  building_id: ID,
  name: NAME,
  equipment_type: oneOf(EQUIPMENT_TYPES),
  parent_id: Type.Optional(ID),
  feeds: Type.Optional(Type.Array(ID, { maxItems: 1000 })),
})
const MS = Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000 })
/** Of several packages, each with its windows. */
const STRETCHES_MAX = 10 * WINDOWS_MAX
/** Stretches of history that nobody vouches for, ms. */
const UNTRUSTED = Type.Optional(Type.Array(Type.Tuple([MS, MS]), { maxItems: STRETCHES_MAX }))
const POINT = strict({
  point_id: ID,
  building_id: ID,
  equipment_id: Type.Optional(ID),
  name: NAME,
  role: Type.Optional(Type.String()),
  unit: Type.String({ maxLength: 64 }),
  kind: oneOf(POINT_KINDS),
  source: strict({ protocol: oneOf(PROTOCOLS), address: Type.String({ maxLength: 1024 }), untrusted: UNTRUSTED }),
  poll_secs: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  states: Type.Optional(Type.Array(Type.String(), { maxItems: 1000 })),
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

const writeRoutes = ({ model, site_id }: CentralContext): Route[] => [
  route({
    method: 'POST',
    path: '/api/model/buildings',
    auth: 'operator',
    summary: 'Adds or changes buildings',
    body: strict({ buildings: listOf(BUILDING) }),
    query: DRY_RUN,
    action: 'put_buildings',
    idempotent: true,
    problems: ['invalid'],
    handle: ({ body, query, audit }) => {
      const buildings = body.buildings.map(one => ({ site_id, ...one }))
      refuse(buildings.flatMap(({ timezone }, i) => zoneErrors(timezone, i)))
      if (query.dry_run) return { ok: true, saved: 0, dry_run: true }
      const before = buildings.map(({ building_id }) => model.building(building_id) ?? null)
      for (const building of buildings) model.put({ building })
      audit({ subject: subjectOf(buildings.map(({ building_id }) => building_id)), before, after: buildings })
      return { ok: true, saved: buildings.length }
    },
  }),
  route({
    method: 'POST',
    path: '/api/model/equipment',
    auth: 'operator',
    summary: 'Adds or changes equipment',
    body: strict({ equipment: listOf(EQUIPMENT) }),
    query: DRY_RUN,
    action: 'put_equipment',
    idempotent: true,
    problems: ['unknown_building', 'invalid'],
    handle: ({ body, query, audit }) => {
      const equipment: Equipment[] = body.equipment
      refuse(equipment.flatMap((one, i) => linkErrors(one, i, equipment, model)))
      if (query.dry_run) return { ok: true, saved: 0, dry_run: true }
      const before = knownBy(
        equipment,
        one => one.equipment_id,
        building_id => model.equipment(building_id),
      )
      model.put({ equipment })
      audit({ subject: subjectOf(equipment.map(one => one.equipment_id)), before: equipment.map(before), after: equipment })
      return { ok: true, saved: equipment.length }
    },
  }),
  route({
    method: 'POST',
    path: '/api/model/points',
    auth: 'operator',
    summary: 'Adds or changes points',
    body: strict({ points: listOf(POINT) }),
    query: DRY_RUN,
    action: 'put_points',
    idempotent: true,
    problems: ['unknown_building', 'unknown_equipment', 'invalid'],
    handle: ({ body, query, audit }) => {
      const given: Point[] = body.points.map(one => ({ ...one, unit: unitCode(one.unit) ?? one.unit }))
      refuse(given.flatMap(pointErrors))
      if (query.dry_run) return { ok: true, saved: 0, dry_run: true }
      const before = knownBy(
        given,
        one => one.point_id,
        building_id => model.points(building_id),
      )
      // Who measures a point, and whether anybody does, only the edge says.
      const points = given.map(one => {
        const { edge_id, gone } = before(one) ?? {}
        return { ...one, ...(edge_id !== undefined && { edge_id }), ...(gone && { gone }) }
      })
      model.put({ points })
      audit({ subject: subjectOf(points.map(one => one.point_id)), before: points.map(before), after: points })
      return { ok: true, saved: points.length }
    },
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

const pointView = ({ gone, ...point }: Point) => ({ ...point, ...(gone && { gone_at: formatInstant(gone.at) }) })

/** @throws Problem invalid when there are errors */
function refuse(errors: DataError[]): void {
  if (errors.length) throw new Problem('invalid', `Nothing was saved: ${errors[0]!.message}`, errors)
}

/** Looks a record of a request up as it was before. */
function knownBy<T extends { building_id: string }>(items: T[], idOf: (item: T) => string, read: (building_id: string) => T[]) {
  const buildings = [...new Set(items.map(({ building_id }) => building_id))]
  const known = new Map(buildings.flatMap(read).map(item => [`${item.building_id} ${idOf(item)}`, item]))
  return (item: T) => known.get(`${item.building_id} ${idOf(item)}`) ?? null
}

const zoneErrors = (timezone: string, i: number): DataError[] =>
  isZone(timezone) ? [] : [{ pointer: `/buildings/${i}/timezone`, message: `${timezone} is no IANA time zone` }]

/** Equipment that is fed, or stands above, is of the same building. */
function linkErrors(one: Equipment, i: number, request: Equipment[], model: CentralContext['model']): DataError[] {
  const { building_id, parent_id, feeds = [], equipment_id } = one
  const there = new Set(
    [...model.equipment(building_id), ...request.filter(other => other.building_id === building_id)].map(
      other => other.equipment_id,
    ),
  )
  const links = [...(parent_id === undefined ? [] : [['parent_id', parent_id]]), ...feeds.map(fed => ['feeds', fed])] as [
    string,
    string,
  ][]
  return links
    .filter(([, id]) => !there.has(id) || id === equipment_id)
    .map(([field, id]) => ({
      pointer: `/equipment/${i}/${field}`,
      message: `${equipment_id} cannot be linked to ${id}`,
      hint: 'link it to other equipment of the building',
    }))
}

function pointErrors({ role, unit }: Point, i: number): DataError[] {
  if (unitCode(unit) === undefined) return [{ pointer: `/points/${i}/unit`, message: `${unit} is no unit that is known here` }]
  if (role === undefined) return []
  const known = ROLES[role]
  const at = { pointer: `/points/${i}/role` }
  if (!known) return [{ ...at, message: `${role} is no role`, hint: `nearest are ${nearestRoles(role).join(', ')}` }]
  return conversion(unit, known.unit)
    ? []
    : [{ pointer: `/points/${i}/unit`, message: `${unit} is no unit of what ${role} measures` }]
}
