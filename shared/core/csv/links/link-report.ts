/** Reports the links that rules on the equipment of a package need. */
import type { Equipment, Point } from '#shared/core/model/model.ts'
import { describeWait, type LinkWait } from '#shared/core/rules/report/link-waits.ts'
import type { StatedLinks } from './links.ts'
import { type LinkNames, type LinkProposal } from './link-names.ts'
import type { ScannedTable } from '../package-plan.ts'
import type { CheckReport } from '../checks.ts'

export type LinkReport = {
  waiting: (LinkWait & { message: string })[]
  /** Proposed, never applied. */
  proposals: LinkProposal[]
}
export const NO_LINKS: LinkReport = { waiting: [], proposals: [] }

/** @param waits missing links of the building as it will be after the import */
export function reportLinks(waits: LinkWait[], proposals: LinkProposal[], checks: CheckReport): LinkReport {
  const waiting = waits.map(wait => ({ ...wait, message: describeWait(wait) }))
  const proposed = new Map(proposals.map(one => [one.equipment_id, one]))
  const exampleOf = (id: string) => {
    const found = proposed.get(id)
    return found ? `${id}: perhaps ${found.parent_id}, ${Math.round(found.confidence * 100)} %` : id
  }
  for (const { equipment_type, equipment_ids, server_ids, message } of waiting) {
    // Where the building has no equipment that could serve it, no link can be stated.
    const severity = server_ids.length > 0 ? 'warning' : 'info'
    checks.add('link_missing', equipment_type, message, {
      examples: equipment_ids.map(exampleOf),
      count: equipment_ids.length,
      severity,
    })
  }
  return { waiting, proposals }
}

/** The model of the building after the import. */
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

/** The names of each equipment in the package and in the model. */
export function linkNames(
  equipment: Equipment[],
  stated: StatedLinks[],
  scanned: Pick<ScannedTable, 'equipment_id' | 'columns'>[],
): ReadonlyMap<string, LinkNames> {
  const folders = new Map(
    stated.map(({ equipment_id, place }) => [equipment_id, place.slice(0, Math.max(0, place.lastIndexOf('/')))]),
  )
  const tables = Map.groupBy(scanned, ({ equipment_id }) => equipment_id)
  return new Map(
    equipment.map(({ equipment_id, name }) => {
      const headers = (tables.get(equipment_id) ?? []).flatMap(({ columns }) => columns.map(({ header }) => header))
      return [
        equipment_id,
        { equipment_id, texts: [...new Set([equipment_id, name])], folder: folders.get(equipment_id) ?? '', headers },
      ]
    }),
  )
}
