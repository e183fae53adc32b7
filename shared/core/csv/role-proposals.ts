/** Roles proposed for the columns of a package that have none. A person decides; nothing is applied. */
import type { PackageModel, ScannedTable } from './package-plan.ts'
import { type Asked, type Suggestion, suggestRoles } from '#shared/core/suggest/suggest.ts'
import type { CheckReport } from './checks.ts'
import type { Column } from './column.ts'
import type { ScannedColumn } from './table-scan.ts'

/** Planned column → its likely roles, the most likely first. */
export type RoleProposals = ReadonlyMap<Column, Suggestion[]>

/**
 * Columns of one equipment are compared with each other, also across tables and with existing points.
 *
 * @param checks collects every column without a role
 */
export function proposeRoles(
  scanned: readonly ScannedTable[],
  { equipment, points }: PackageModel,
  checks: CheckReport,
): RoleProposals {
  const proposals = new Map<Column, Suggestion[]>()
  const names = new Map(equipment.map(one => [one.equipment_id, one.name]))
  for (const [equipment_id, tables] of Map.groupBy(scanned, table => table.equipment_id)) {
    const { equipment_type } = tables[0]!
    const own = { equipment_id, equipment_type, equipment_name: names.get(equipment_id) ?? equipment_id }
    const all = tables.flatMap(({ columns, scan, table }, n) => {
      const kept = new Map(scan.columns.map(column => [column.index, column]))
      return columns.map(column => ({ column, kept: kept.get(column.index), path: table.path, n }))
    })
    const headers = new Set(all.map(({ column }) => column.header))
    const others = points.filter(
      point =>
        point.equipment_id === equipment_id && !point.gone && !(point.source.protocol === 'csv' && headers.has(point.name)),
    )
    const asked = all.map(({ column, kept, n }, i): Asked => ({ ...askedOf(column, kept), ...own, point_id: `${n}/${i}` }))
    const found = suggestRoles([...asked, ...others.map(point => ({ ...point, ...own }))])
    for (const [i, { column, path }] of all.entries()) {
      if (column.status !== 'unmapped') continue
      const suggestions = found.get(asked[i]!.point_id) ?? []
      proposals.set(column, suggestions)
      const [first] = suggestions
      const perhaps = first && `: perhaps ${first.role}, ${Math.round(first.confidence * 100)} %`
      checks.add('column_unmapped', path, 'columns have no role', { examples: [`${column.header}${perhaps ?? ''}`] })
    }
  }
  return proposals
}

/** @param kept the column after its scan; undefined where it has no value */
function askedOf(column: Column, kept: ScannedColumn | undefined): Omit<Asked, 'point_id'> {
  const { header, name = header, role, unit, unitStated } = kept ?? column
  const isStated = unitStated || (kept !== undefined && kept.kind !== 'number')
  return {
    name,
    kind: kept?.kind ?? 'number',
    source: { protocol: 'csv', address: header },
    ...(isStated && { unit }),
    ...(role !== undefined && { role }),
    ...(kept?.values && { values: kept.values }),
  }
}
