import type { Point } from '#shared/core/model/model.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import { nearestRoles, ROLES } from '#shared/core/model/role.ts'
import type { Assignment, ModelStore } from '#shared/core/stores.ts'
import { conversion, unitCode, UNITS } from '#shared/core/model/unit.ts'

export type AssignRequest = { building_id: string; assignments: Assignment[]; mode: 'merge' | 'replace' }

/**
 * Checks assignments against roles, units and each other, then saves all of them or none.
 *
 * @param dryRun checks only; counts as if nothing had changed
 * @throws Problem unknown_building, or invalid that lists every assignment that does not fit
 */
export function assignPoints(request: AssignRequest, model: ModelStore, dryRun: boolean) {
  const { building_id, mode } = request
  needBuilding(model, building_id)
  const points = model.points(building_id)
  const equipment = new Set(model.equipment(building_id).map(({ equipment_id }) => equipment_id))
  const assignments = request.assignments.map(one => ({
    ...one,
    ...(one.unit !== undefined && { unit: unitCode(one.unit) ?? one.unit }),
  }))
  const errors = [
    ...assignments.flatMap((one, i) => complaints(one, i, points, equipment)),
    ...roleCollisions(assignments, mode === 'replace' ? [] : points, i => `/assignments/${i}`),
  ]
  if (errors.length) throw new Problem('invalid', `Nothing was saved: ${errors[0]!.message}`, errors)
  return dryRun ? preview(assignments, points, mode) : model.assign(building_id, assignments, mode)
}

function complaints(
  { point_id, equipment_id, role, unit }: Assignment,
  i: number,
  points: Point[],
  equipment: Set<string>,
): DataError[] {
  const at = (field: string) => ({ pointer: `/assignments/${i}/${field}` })
  const point = points.find(one => one.point_id === point_id)
  const errors: DataError[] = []
  if (!point) errors.push({ ...at('point_id'), message: `there is no point ${point_id}` })
  if (!equipment.has(equipment_id)) errors.push({ ...at('equipment_id'), message: `there is no equipment ${equipment_id}` })
  const known = ROLES[role]
  if (!known) {
    errors.push({ ...at('role'), message: `${role} is no role`, hint: `nearest are ${nearestRoles(role).join(', ')}` })
    return errors
  }
  const own = unit ?? point?.unit
  if (own === undefined) return errors
  const { dimension } = UNITS[known.unit]!
  if (!UNITS[own]) errors.push({ ...at('unit'), message: `${own} is no unit that is known here` })
  else if (!conversion(own, known.unit)) {
    errors.push({
      ...at('unit'),
      message: `${own} is no unit of ${dimension}, which ${role} measures`,
      hint: `for example ${known.unit}`,
    })
  }
  return errors
}

type RoleHolder = Pick<Point, 'point_id' | 'equipment_id' | 'role'>

/**
 * A role of one equipment belongs to one point; a rule could not choose between two.
 *
 * @param given points that are to hold roles
 * @param others points of the building, of which those that are not given retain theirs
 * @param at pointer to a given point by its place in the request
 */
export function roleCollisions(
  given: readonly RoleHolder[],
  others: readonly RoleHolder[],
  at: (i: number) => string,
): DataError[] {
  const named = new Set(given.map(({ point_id }) => point_id))
  const staying = others.filter(({ point_id, role }) => role !== undefined && !named.has(point_id))
  const holders = new Map(staying.map(({ point_id, equipment_id, role }) => [`${equipment_id} ${role}`, point_id]))
  return given.flatMap(({ point_id, equipment_id, role }, i): DataError[] => {
    if (role === undefined || equipment_id === undefined) return []
    const place = `${equipment_id} ${role}`
    const holder = holders.get(place)
    holders.set(place, point_id)
    if (holder === undefined) return []
    const message = `${role} of ${equipment_id} is held by point ${holder}`
    return [{ pointer: `${at(i)}/role`, message, hint: 'give that point another role in the same request' }]
  })
}

function preview(assignments: Assignment[], points: Point[], mode: 'merge' | 'replace') {
  const byId = new Map(points.map(point => [point.point_id, point]))
  const unchanged = assignments.filter(({ point_id, equipment_id, role, unit }) => {
    const point = byId.get(point_id)!
    return point.equipment_id === equipment_id && point.role === role && (unit === undefined || point.unit === unit)
  }).length
  const named = new Set(assignments.map(({ point_id }) => point_id))
  const removed = mode === 'merge' ? 0 : points.filter(({ point_id, role }) => role !== undefined && !named.has(point_id)).length
  return { saved: assignments.length - unchanged, unchanged, removed }
}
