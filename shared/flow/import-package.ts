import type { PackagePlan } from '#shared/core/csv/plan.ts'
import { localClock } from '#shared/core/csv/local-clock.ts'
import { judgeRow, openRows, type TablePlan } from '#shared/core/csv/rows.ts'
import type { BulkLoader, PointRows } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import type { ModelStore } from '#shared/core/stores.ts'

export type ImportPorts = {
  model: ModelStore
  loader: BulkLoader
  /** Records of a table, the header first. */
  readTable: (table: TablePlan) => AsyncIterable<{ cells: string[] }>
}

/**
 * What an import did. Rows are lines of tables: one whose samples were all there already counts as duplicate; where a
 * package brings some samples of a row and not others, rows are shared out as samples are.
 */
export type ImportResult = {
  building_id: string
  rows_in: number
  rows_written: number
  rows_duplicate: number
  rows_rejected: number
  samples_written: number
  samples_duplicate: number
  equipment: string[]
}

/**
 * Imports what a preflight has settled: first the model, then all history at one moment.
 *
 * @throws Problem conflict when the model has changed since the preflight; package_invalid when not one sample came
 */
export async function importPackage(plan: PackagePlan, mode: 'merge' | 'replace', ports: ImportPorts): Promise<ImportResult> {
  const { building, equipment, points, tables } = plan
  assertUnchanged(plan, ports.model)
  ports.model.put({ building, equipment, points })
  const rows = { in: 0, rejected: 0 }
  const ids = points.map(({ point_id }) => point_id)
  const samples = await ports.loader.load(building.building_id, ids, mode, blocks(tables, ports, rows))
  const total = samples.added + samples.duplicate
  const good = rows.in - rows.rejected
  const rows_duplicate = Math.round((good * samples.duplicate) / total)
  return {
    building_id: building.building_id,
    rows_in: rows.in,
    rows_written: good - rows_duplicate,
    rows_duplicate,
    rows_rejected: rows.rejected,
    samples_written: samples.added,
    samples_duplicate: samples.duplicate,
    equipment: equipment.map(({ equipment_id }) => equipment_id),
  }
}

/** Between preflight and import another one may have come; values in the wrong unit would be worse than a second look. */
function assertUnchanged({ building, points }: PackagePlan, model: ModelStore): void {
  const known = new Map(model.points(building.building_id).map(point => [point.point_id, point]))
  for (const { point_id, unit, source } of points) {
    const now = known.get(point_id)
    if (now && (now.unit !== unit || now.source.address !== source.address)) {
      throw new Problem('conflict', `Point ${point_id} has changed since the preflight; run it again`)
    }
  }
}

async function* blocks(
  tables: TablePlan[],
  { readTable }: ImportPorts,
  rows: { in: number; rejected: number },
): AsyncGenerator<PointRows> {
  let samples = 0
  for (const table of tables) {
    const reader = openRows(table)
    const local = table.timezone === undefined ? undefined : localClock(table.timezone)
    let header = true
    for await (const { cells } of readTable(table)) {
      if (header) {
        header = false
        continue
      }
      rows.in++
      const instant = judgeRow(cells, table, local)
      if (typeof instant !== 'number') rows.rejected++
      else {
        for (const block of reader.row(instant, cells)) {
          samples += block.series.ts.length
          yield block
        }
      }
    }
    for (const block of reader.end()) {
      samples += block.series.ts.length
      yield block
    }
  }
  if (samples === 0) throw new Problem('package_invalid', 'Not one sample could be imported')
}
