/** The command that assigns points to roles of equipment, which the page and the API both call. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { type AssignRequest, assignPoints } from '#shared/flow/assign-points.ts'
import { strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { Actor } from './command.ts'

/** Most assignments of one request: all points of a large building. */
export const ASSIGNMENTS_MAX = 5000
export const ROLE = Type.String({ maxLength: 64 })
export const ASSIGNMENT = strict({ point_id: ID, equipment_id: ID, role: ROLE, unit: Type.Optional(Type.String()) })

/**
 * Assigns points to roles, all of them or none, and writes the audit row.
 *
 * @param dryRun checks only: nothing is stored or audited
 * @throws Problem unknown_building, or invalid that lists every assignment that does not fit
 */
export function saveAssignments(
  { model }: Pick<CentralContext, 'model'>,
  { audit }: Pick<Actor, 'audit'>,
  request: AssignRequest,
  dryRun = false,
) {
  const { building_id, assignments, mode } = request
  const named = new Set(assignments.map(({ point_id }) => point_id))
  const before = model
    .points(building_id)
    .filter(({ point_id }) => named.has(point_id))
    .map(({ point_id, equipment_id, role, unit }) => ({ point_id, equipment_id, role, unit }))
  const counts = assignPoints(request, model, dryRun)
  if (!dryRun) audit({ subject: building_id, before, after: { mode, assignments } })
  return counts
}
