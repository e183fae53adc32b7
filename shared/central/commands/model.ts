/** Commands on the model of buildings, equipment and points: what one request of the API saves. */
import { INSTANCE_MAX } from '#shared/core/bacnet/object.ts'
import { type TInteger, type TSchema, type TTuple, Type } from '@sinclair/typebox'
import { WINDOWS_MAX } from '#shared/core/csv/quality.ts'
import {
  type Building,
  type Equipment,
  EQUIPMENT_TYPES,
  ID,
  type Point,
  POINT_KINDS,
  PROTOCOLS,
} from '#shared/core/model/model.ts'
import { nearestRoles, ROLES } from '#shared/core/model/role.ts'
import { conversion, unitCode } from '#shared/core/model/unit.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import { roleCollisions } from '#shared/flow/assign-points.ts'
import { isZone } from '#shared/core/time-zone.ts'
import { oneOf, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type Actor, subjectOf } from './command.ts'

/** Longest name of a building, an equipment or a point, characters: 256. */
const NAME = Type.String({ minLength: 1, maxLength: 256 })
export const BUILDING_BODY = strict({
  building_id: ID,
  name: NAME,
  site_id: Type.Optional(ID),
  timezone: Type.String({ maxLength: 64 }),
  unit_system: oneOf(['us', 'si']),
  lat: Type.Optional(Type.Number({ minimum: -90, maximum: 90 })),
  lon: Type.Optional(Type.Number({ minimum: -180, maximum: 180 })),
})
export const EQUIPMENT_BODY = strict({
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
/** A list of two, because OpenAPI 3.1 has no `items` of several schemas, which `Type.Tuple` makes. */
const SPAN = Type.Array(MS, { minItems: 2, maxItems: 2 }) as TSchema as TTuple<[TInteger, TInteger]>
/** Stretches of history that nobody vouches for, ms. */
const UNTRUSTED = Type.Optional(Type.Array(SPAN, { maxItems: STRETCHES_MAX }))
/** Where the device of a BACnet point is. */
const PLACE = Type.Optional(
  strict({
    device_instance: Type.Integer({ minimum: 0, maximum: INSTANCE_MAX }),
    network: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_534 })),
    mac: Type.Optional(Type.String({ pattern: '^([0-9a-f]{2}){1,7}$' })),
  }),
)
export const POINT_BODY = strict({
  point_id: ID,
  building_id: ID,
  equipment_id: Type.Optional(ID),
  name: NAME,
  role: Type.Optional(Type.String()),
  unit: Type.String({ maxLength: 64 }),
  kind: oneOf(POINT_KINDS),
  source: strict({ protocol: oneOf(PROTOCOLS), address: Type.String({ maxLength: 1024 }), bacnet: PLACE, untrusted: UNTRUSTED }),
  poll_secs: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  states: Type.Optional(Type.Array(Type.String(), { maxItems: 1000 })),
})

type ModelContext = Pick<CentralContext, 'model'>
type Auditor = Pick<Actor, 'audit'>

/**
 * Adds or changes buildings, all of them or none.
 *
 * @param dryRun checks only: nothing is stored or audited
 * @returns how many were saved
 * @throws Problem invalid that names each time zone that does not exist
 */
export function saveBuildings({ model }: ModelContext, { audit }: Auditor, buildings: Building[], dryRun = false): number {
  refuse(buildings.flatMap(({ timezone }, i) => zoneErrors(timezone, `/buildings/${i}`)))
  if (dryRun) return 0
  const before = buildings.map(({ building_id }) => model.building(building_id) ?? null)
  for (const building of buildings) model.put({ building })
  audit({ subject: subjectOf(buildings.map(({ building_id }) => building_id)), before, after: buildings })
  return buildings.length
}

/** As `saveBuildings`. @throws Problem unknown_building, or invalid that names each link to equipment that is not there */
export function saveEquipment({ model }: ModelContext, { audit }: Auditor, equipment: Equipment[], dryRun = false): number {
  refuse(equipment.flatMap((one, i) => linkErrors(one, `/equipment/${i}`, equipment, model)))
  if (dryRun) return 0
  const before = knownBy(
    equipment,
    one => one.equipment_id,
    building_id => model.equipment(building_id),
  )
  model.put({ equipment })
  audit({ subject: subjectOf(equipment.map(one => one.equipment_id)), before: equipment.map(before), after: equipment })
  return equipment.length
}

/** As `saveBuildings`. @throws Problem unknown_building, unknown_equipment, or invalid that names each role and unit that does not fit */
export function savePoints({ model }: ModelContext, { audit }: Auditor, given: Point[], dryRun = false): number {
  const points = given.map(withUnitCode)
  const perBuilding = [...Map.groupBy(points, one => one.building_id)]
  refuse([
    ...points.flatMap((one, i) => pointErrors(one, `/points/${i}`)),
    ...perBuilding.flatMap(([building_id, own]) =>
      roleCollisions(own, model.points(building_id), i => `/points/${points.indexOf(own[i]!)}`),
    ),
  ])
  if (dryRun) return 0
  const before = knownBy(
    points,
    one => one.point_id,
    building_id => model.points(building_id),
  )
  const after = points.map(one => measuredAs(one, before(one)))
  model.put({ points: after })
  audit({ subject: subjectOf(after.map(one => one.point_id)), before: after.map(before), after })
  return after.length
}

export const withUnitCode = (point: Point): Point => ({ ...point, unit: unitCode(point.unit) ?? point.unit })

/** Who measures a point, and whether anybody does, only the edge says. */
export function measuredAs(point: Point, known: Point | null | undefined): Point {
  const { edge_id, gone } = known ?? {}
  return { ...point, ...(edge_id !== undefined && { edge_id }), ...(gone && { gone }) }
}

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

export const zoneErrors = (timezone: string, at: string): DataError[] =>
  isZone(timezone) ? [] : [{ pointer: `${at}/timezone`, message: `${timezone} is no IANA time zone` }]

/** Equipment that is fed, or stands above, is of the same building. */
export function linkErrors(
  one: Equipment,
  at: string,
  request: Equipment[],
  model: Pick<CentralContext['model'], 'equipment'>,
): DataError[] {
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
      pointer: `${at}/${field}`,
      message: `${equipment_id} cannot be linked to ${id}`,
      hint: 'link it to other equipment of the building',
    }))
}

export function pointErrors({ role, unit }: Pick<Point, 'role' | 'unit'>, at: string): DataError[] {
  if (unitCode(unit) === undefined) return [{ pointer: `${at}/unit`, message: `${unit} is no unit that is known here` }]
  if (role === undefined) return []
  const known = ROLES[role]
  const ofRole = { pointer: `${at}/role` }
  if (!known) return [{ ...ofRole, message: `${role} is no role`, hint: `nearest are ${nearestRoles(role).join(', ')}` }]
  return conversion(unit, known.unit) ? [] : [{ pointer: `${at}/unit`, message: `${unit} is no unit of what ${role} measures` }]
}
