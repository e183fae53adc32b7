import test from 'ava'
import { operationPoints, planOperations } from '#shared/core/analytics/operations-plan.ts'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'

const EQUIPMENT: Equipment[] = [
  { building_id: 'b', equipment_id: 'ahu-1', equipment_type: 'ahu', name: 'ahu-1' },
  { building_id: 'b', equipment_id: 'vav-1', equipment_type: 'vav', name: 'vav-1', parent_id: 'ahu-1' },
]
const pointsOf = (roles: string[]) =>
  EQUIPMENT.flatMap(({ building_id, equipment_id }) =>
    roles.map(role => ({ building_id, equipment_id, point_id: `${equipment_id}.${role}`, role })),
  ) as Point[]

test('the points that are sent to be analysed give the same plans as all points', t => {
  const all = Object.keys(ROLES)
  // The first of several proofs is taken, so each is also tried as the only one.
  for (const roles of [all, ...all.map(role => [role, 'zone_t'])]) {
    const points = pointsOf(roles)
    t.deepEqual(planOperations(EQUIPMENT, operationPoints(points)), planOperations(EQUIPMENT, points), roles.join())
  }
  const sent = operationPoints(pointsOf(all))
  t.true(sent.length < all.length, `${sent.length} of ${all.length * EQUIPMENT.length} points are sent`)
})
