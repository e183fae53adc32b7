/** What a model lacks before rules can look at it: points without a role, with what they seem to be. */
import type { Equipment, Point } from '#shared/core/model.ts'
import { type Asked, type Suggestion, suggestRoles } from '#shared/core/suggest/suggest.ts'

export type Suggested = Point & { suggestions: Suggestion[] }

/**
 * @param points of one building
 * @returns every point, those of one equipment together; one that has a role, or is not measured any more, is suggested none
 */
export function suggestFor(points: Point[], equipment: Equipment[]): Suggested[] {
  const types = new Map(equipment.map(({ equipment_id, equipment_type }) => [equipment_id, equipment_type]))
  const groups = Map.groupBy(points, ({ equipment_id }) => equipment_id ?? '')
  const sorted = [...groups].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return sorted.flatMap(([equipment_id, own]) => {
    const equipment_type = types.get(equipment_id)
    const asked = own.filter(({ gone }) => !gone).map((point): Asked => ({ ...point, ...(equipment_type && { equipment_type }) }))
    const taken = new Set(own.flatMap(({ role }) => role ?? []))
    const found = suggestRoles(asked)
    return own.map(point => {
      const free = (found.get(point.point_id) ?? []).filter(({ role }) => !taken.has(role))
      return { ...point, suggestions: point.role === undefined ? free : [] }
    })
  })
}

/** @returns whether a point waits for somebody to say what it is */
export const isOpen = ({ role, gone }: Point): boolean => role === undefined && !gone
