/** Compares role suggestions of a preflight, and of the points that it plans, with the right roles. */
import type { PackagePlan } from '#shared/core/csv/package-plan.ts'
import type { PackageReport } from '#shared/core/csv/package-report.ts'
import { suggestFor } from '#shared/flow/commission.ts'

export type NameScore = {
  /** Preflight knows the values; afterwards a point has its name, unit and kind. */
  when: 'before import' | 'after import'
  type: string
  name: string
  wanted: string
  role: string | undefined
  confidence: number
}

/** @param truth by equipment and header, the right role */
export function scoreNames(
  report: PackageReport,
  plan: PackagePlan | undefined,
  truth: ReadonlyMap<string, ReadonlyMap<string, string>>,
): NameScore[] {
  const before = report.equipment.flatMap(({ equipment_id, equipment_type, columns }) =>
    columns.flatMap(({ header, suggestion, confidence = 0 }): NameScore[] => {
      const wanted = truth.get(equipment_id)?.get(header)
      if (wanted === undefined) return []
      return [{ when: 'before import', type: equipment_type, name: header, wanted, role: suggestion, confidence }]
    }),
  )
  const types = new Map(plan?.equipment.map(({ equipment_id, equipment_type }) => [equipment_id, equipment_type]))
  const after = suggestFor(plan?.points ?? [], plan?.equipment ?? []).flatMap(
    ({ equipment_id = '', source, suggestions: [first] }): NameScore[] => {
      const wanted = truth.get(equipment_id)?.get(source.address)
      if (wanted === undefined) return []
      const found = { role: first?.role, confidence: first?.confidence ?? 0 }
      return [{ when: 'after import', type: types.get(equipment_id) ?? '', name: source.address, wanted, ...found }]
    },
  )
  return [...before, ...after]
}
