/** The plan of an import from its preflight: building, equipment, points and tables as plain data. */
import type { Building, Equipment, EquipmentType, Point } from '#shared/core/model/model.ts'
import type { UntrustedSpan } from '#shared/core/series/untrusted-spans.ts'
import type { Column } from './column.ts'
import { pointId } from './columns.ts'
import type { Manifest } from './package-json.ts'
import { untrustedAfter } from './quality.ts'
import type { TablePlan } from './row-reader.ts'
import type { ScanResult } from './table-scan.ts'

/** The part of the model that a package concerns. */
export type PackageModel = { building?: Building; equipment: Equipment[]; points: Point[] }

/** Everything an import needs, as plain data. */
export type PackagePlan = {
  building: Building
  equipment: Equipment[]
  points: Point[]
  tables: TablePlan[]
  /** The model at the time of the plan. */
  before: PackageModel
}

/** One table after its scan. */
export type ScannedTable = {
  equipment_id: string
  equipment_type: EquipmentType
  /** What it was read from; tables of one file are the columns of several equipment in it. */
  file: string
  table: Omit<TablePlan, 'columns'>
  columns: Column[]
  scan: ScanResult
  /** Trusted windows of the data; undefined where all data is trusted. */
  trusted?: readonly UntrustedSpan[] | undefined
}

/** The building from the package and the model. */
export function planBuilding(manifest: Manifest, known: Building | undefined, site_id: string): Building {
  if (known) return known
  const { building_id, timezone = 'UTC', unit_system = 'si' } = manifest
  return { building_id, name: building_id, site_id, timezone, unit_system }
}

/**
 * Plans points for the columns of all tables.
 *
 * @param known present points of the building; a column whose header equals that of a point of its equipment becomes that
 *   point
 */
export function planPoints(
  building_id: string,
  scanned: ScannedTable[],
  known: Point[],
): { points: Point[]; tables: TablePlan[] } {
  const taken = new Set(known.map(({ point_id }) => point_id))
  const numbers = new Map<string, number>()
  const planned = new Map<string, Point>()
  const tables = scanned.map(({ equipment_id, table, scan, trusted }): TablePlan => {
    const { timeline } = scan
    const span: UntrustedSpan | undefined = timeline && timeline.rows > 0 ? [timeline.first, timeline.last + 1] : undefined
    const columns = scan.columns.map(column => {
      const { header, name, role, historyUnit, kind, states, index, scale, offset } = column
      const key = JSON.stringify([equipment_id, header])
      const before = planned.get(key) ?? column.point
      const point_id = before?.point_id ?? pointId(equipment_id, header, taken, numbers)
      taken.add(point_id)
      const untrusted = span ? untrustedAfter(before?.source.untrusted, span, trusted) : (before?.source.untrusted ?? [])
      const source = { protocol: 'csv', address: header, ...(untrusted.length > 0 && { untrusted }) } as const
      const own = {
        name: before?.name ?? name ?? header,
        unit: historyUnit,
        kind,
        source,
      }
      const more = { ...(role !== undefined && { role }), ...(states && { states }) }
      planned.set(key, { ...before, point_id, building_id, equipment_id, ...own, ...more })
      return { index, point_id, scale, offset, states }
    })
    return { ...table, columns }
  })
  return { points: [...planned.values()], tables: tablesByFile(scanned, tables) }
}

/** A file is read once: the columns of several equipment in it are those of one table. */
function tablesByFile(scanned: ScannedTable[], tables: TablePlan[]): TablePlan[] {
  const byFile = new Map<string, TablePlan>()
  for (const [i, table] of tables.entries()) {
    const before = byFile.get(scanned[i]!.file)
    byFile.set(scanned[i]!.file, before ? { ...before, columns: [...before.columns, ...table.columns] } : table)
  }
  return [...byFile.values()]
}
