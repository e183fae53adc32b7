import type { PackagePlan } from '#shared/core/csv/package-plan.ts'
import { localClock } from '#shared/core/csv/local-clock.ts'
import type { TableRecord } from '#shared/core/csv/record.ts'
import { rowInstant, createRowReader, type TablePlan } from '#shared/core/csv/row-reader.ts'
import type { BulkLoader, PointRows } from '#shared/core/ports.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import type { ModelStore } from '#shared/core/stores.ts'

type ImportPorts = {
  model: ModelStore
  loader: BulkLoader
  /** Records of a table, some at once, the header first. */
  readTable: (table: TablePlan) => AsyncIterable<TableRecord[]>
}

/**
 * The result of an import. Rows are lines of tables: one whose samples were all there already, or that a later one of the same
 * time has replaced, counts as duplicate; where a package brings some samples of a row and not others, rows are shared out
 * as samples are.
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
 * Imports what a preflight has settled: the model and all history at one moment, so that no crash leaves one without the
 * other.
 *
 * @throws Problem conflict when somebody has changed the model since the preflight, and the package would undo that;
 *   package_invalid when not one sample came
 */
export async function importPackage(plan: PackagePlan, mode: 'merge' | 'replace', ports: ImportPorts): Promise<ImportResult> {
  const { building, equipment, points, tables } = plan
  assertUnchanged(plan, ports.model)
  const putModel = () => {
    assertUnchanged(plan, ports.model)
    ports.model.put({ building, equipment, points })
  }
  const rows = { in: 0, rejected: 0, replaced: 0 }
  const ids = points.map(({ point_id }) => point_id)
  const samples = await ports.loader.load(building.building_id, ids, mode, blocks(tables, ports, rows), putModel)
  const total = samples.added + samples.duplicate
  const good = rows.in - rows.rejected
  const rows_duplicate = rows.replaced + Math.round(((good - rows.replaced) * samples.duplicate) / total)
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

/** Changes that a package may not make, each in the words of the error. */
const BUILDING = { name: 'name', timezone: 'time zone', unit_system: 'unit system', lat: 'latitude', lon: 'longitude' }
const EQUIPMENT = { name: 'name', equipment_type: 'type', parent_id: 'parent', feeds: 'feeds' }
const POINT = {
  equipment_id: 'equipment',
  name: 'name',
  role: 'role',
  unit: 'unit',
  kind: 'kind',
  source: 'address',
  poll_secs: 'polling interval',
  states: 'states',
}

/** Between preflight and import people work, and other packages come; what they have settled by now is not put back. */
function assertUnchanged({ building, equipment, points, before }: PackagePlan, model: ModelStore): void {
  const { building_id } = building
  const now = {
    building: [model.building(building_id)].flatMap(one => one ?? []),
    equipment: model.equipment(building_id),
    points: model.points(building_id),
  }
  const first = before.building ? [before.building] : []
  const changed = [
    ...changes('building', 'building_id', BUILDING, { planned: [building], before: first, now: now.building }),
    ...changes('equipment', 'equipment_id', EQUIPMENT, { planned: equipment, before: before.equipment, now: now.equipment }),
    ...changes('point', 'point_id', POINT, { planned: points, before: before.points, now: now.points }),
  ]
  if (changed.length === 0) return
  const more = changed.length > 1 ? ` (and ${changed.length - 1} more)` : ''
  const errors = changed.map((message): DataError => ({ message }))
  throw new Problem('conflict', `Changed since the preflight: ${changed[0]}${more}; run it again`, errors)
}

/** @returns in words, each field that is neither as it was before nor as it is planned */
function changes<K extends string, T extends Record<K, string>>(
  kind: string,
  id: K,
  fields: Partial<Record<keyof T, string>>,
  { planned, before, now }: { planned: T[]; before: T[]; now: T[] },
): string[] {
  const [known, current] = [before, now].map(list => new Map(list.map(one => [one[id], one])))
  return planned.flatMap(plan => {
    const is = current!.get(plan[id])
    if (!is) return []
    const was = known!.get(plan[id])
    const wrong = (Object.keys(fields) as (keyof T)[]).filter(name => !same(is[name], was?.[name]) && !same(is[name], plan[name]))
    return wrong.map(name => `${fields[name]} of ${kind} ${plan[id]}`)
  })
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

async function* blocks(
  tables: TablePlan[],
  { readTable }: ImportPorts,
  rows: { in: number; rejected: number; replaced: number },
): AsyncGenerator<PointRows> {
  let samples = 0
  for (const table of tables) {
    const reader = createRowReader(table)
    const local = table.timezone === undefined ? undefined : localClock(table.timezone)
    let header = true
    for await (const records of readTable(table)) {
      for (const record of header ? records.slice(1) : records) {
        rows.in++
        const instant = rowInstant(record, table, local)
        if (typeof instant !== 'number') rows.rejected++
        else {
          for (const block of reader.row(instant, record)) {
            samples += block.series.ts.length
            yield block
          }
        }
      }
      header &&= records.length === 0
    }
    for (const block of reader.end()) {
      samples += block.series.ts.length
      yield block
    }
    rows.replaced += reader.replaced()
  }
  if (samples === 0) throw new Problem('package_invalid', 'Not one sample could be imported')
}
