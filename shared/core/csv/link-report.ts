/** The links that rules on a package's equipment wait for. */
import type { Equipment, Point } from '../model.ts'
import { describeWait, type LinkWait } from '../rules/link-waits.ts'
import type { Findings } from './checks.ts'

export type LinkReport = {
  waiting: (LinkWait & { message: string })[]
}
export const NO_LINKS: LinkReport = { waiting: [] }

/** @param waits of the building as it would be after the import */
export function reportLinks(waits: LinkWait[], checks: Findings): LinkReport {
  const waiting = waits.map(wait => ({ ...wait, message: describeWait(wait) }))
  for (const { equipment_type, equipment_ids, server_ids, message } of waiting) {
    // Where the building holds nothing that could serve them, the package has nothing to state.
    const severity = server_ids.length > 0 ? 'warning' : 'info'
    checks.add('link_missing', equipment_type, message, { examples: equipment_ids, count: equipment_ids.length, severity })
  }
  return { waiting }
}

/** The building's model as the import will leave it. */
export function modelAfter(
  before: { equipment: Equipment[]; points: Point[] },
  equipment: Equipment[],
  points: Point[],
): { equipment: Equipment[]; points: Point[] } {
  const merged = <T>(known: T[], planned: T[], id: (one: T) => string) => [
    ...new Map([...known, ...planned].map(one => [id(one), one])).values(),
  ]
  return {
    equipment: merged(before.equipment, equipment, one => one.equipment_id),
    points: merged(before.points, points, one => one.point_id),
  }
}
