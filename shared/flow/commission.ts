/** Gaps of a model that prevent rules from running: points without a role, each with its suggested role. */
import type { Equipment, Point } from '#shared/core/model/model.ts'
import { type Asked, type Suggestion, suggestRoles } from '#shared/core/suggest/suggest.ts'

/** A suggestion that is right nine times in ten is chosen for a person who asks for it. */
export const LIKELY = 0.9

export type Suggested = Point & { suggestions: Suggestion[] }

/**
 * @param points of one building
 * @returns every point, those of one equipment together; one that has a role, or is not measured any more, is suggested none
 */
export function suggestFor(points: Point[], equipment: Equipment[]): Suggested[] {
  const byId = new Map(equipment.map(one => [one.equipment_id, one]))
  const groups = Map.groupBy(points, ({ equipment_id }) => equipment_id ?? '')
  const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sorted.flatMap(([equipment_id, own]) => {
    if (!own.some(isOpen)) return own.map(point => ({ ...point, suggestions: [] }))
    const of = byId.get(equipment_id)
    const place = of && { equipment_type: of.equipment_type, equipment_name: of.name }
    const found = suggestRoles(own.filter(({ gone }) => !gone).map((point): Asked => ({ ...point, ...place })))
    return own.map(point => ({ ...point, suggestions: found.get(point.point_id) ?? [] }))
  })
}

/** @returns whether a point waits for somebody to say what it is */
export const isOpen = ({ role, gone }: Point): boolean => role === undefined && !gone
