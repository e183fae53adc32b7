/** Equipment below what feeds it, to go down to a point that could be added to the plot. */
import type { Equipment, Point } from '#shared/core/model/model.ts'

/** `path`: from what nothing feeds down to the equipment that is looked into; `below` and `points` are what it feeds and has. */
export type PointTree = { path: Equipment[]; below: { equipment: Equipment; points: number }[]; points: Point[] }

/** @param of undefined for what nothing feeds, and the points of no equipment */
export function pointTree(equipment: readonly Equipment[], points: readonly Point[], of: string | undefined): PointTree {
  const byId = new Map(equipment.map(one => [one.equipment_id, one]))
  const parentOf = ({ parent_id, equipment_id }: Equipment) =>
    parent_id === equipment_id ? undefined : byId.get(parent_id ?? '')
  const own = Map.groupBy(
    points.filter(({ gone }) => !gone),
    ({ equipment_id }) => (byId.has(equipment_id ?? '') ? equipment_id : undefined),
  )
  const path: Equipment[] = []
  // What feeds itself in a circle ends where it comes back.
  for (let one = byId.get(of ?? ''); one && !path.includes(one); one = parentOf(one)) path.unshift(one)
  const below = equipment
    .filter(one => parentOf(one)?.equipment_id === of)
    .map(one => ({ equipment: one, points: own.get(one.equipment_id)?.length ?? 0 }))
  return { path, below, points: own.get(of) ?? [] }
}
