import { gatherChecks, verdictOf } from '#shared/core/csv/checks.ts'
import { localClock } from '#shared/core/csv/local-clock.ts'
import { planPoints, type ScannedTable } from '#shared/core/csv/plan.ts'
import { judgeRow, openRows } from '#shared/core/csv/rows.ts'
import type { DateOrder } from '#shared/core/csv/stamp.ts'
import type { Point } from '#shared/core/model.ts'
import type { Historian, PointRows } from '#shared/core/ports.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import { formOf, type Line, readTableText } from './table.ts'
import { scanLines } from './scan-table.ts'

export type AppendRequest = { building_id: string; equipment_id: string; csv: string; date_order?: DateOrder }
type Parts = { model: ModelStore; historian: Historian }

/** A sample as the historian takes it. */
type Sample = { id: string; t: number; v: number }

/**
 * Adds a chunk of rows to equipment that a package has brought. Costs follow the chunk; a repeated chunk adds nothing.
 *
 * @throws Problem unknown_building, unknown_equipment, mapping_empty (no package came yet) or package_invalid
 */
export async function appendChunk(request: AppendRequest, { model, historian }: Parts) {
  const { building_id, equipment_id } = request
  const scanned = await scanChunk(request, model)
  const { lines, table, points } = scanned
  const rows = takeRows(lines, table, planPoints(building_id, [table], points).tables[0]!)
  const known = await knownSamples(historian, building_id, rows.samples)
  const fresh = rows.samples.filter(({ id, t, v }) => !Object.is(known.get(`${id} ${t}`), v))
  await historian.append(building_id, fresh)
  const freshRows = new Set(fresh.map(({ t }) => t)).size
  const instants = rows.samples.map(({ t }) => t)
  return {
    building_id,
    equipment_id,
    rows_in: table.scan.rows_in,
    rows_added: freshRows,
    rows_duplicate: rows.taken - freshRows,
    rows_rejected: table.scan.rows_rejected,
    ts_min: instants.reduce((a, b) => Math.min(a, b)),
    ts_max: instants.reduce((a, b) => Math.max(a, b)),
    checks: scanned.checks,
  }
}

/** Reads the chunk and settles its columns. */
async function scanChunk({ building_id, equipment_id, csv, date_order }: AppendRequest, model: ModelStore) {
  const building = model.building(building_id)
  if (!building) throw new Problem('unknown_building', `There is no building ${building_id}`)
  const equipment = model.equipment(building_id).find(one => one.equipment_id === equipment_id)
  if (!equipment) throw new Problem('unknown_equipment', `Building ${building_id} has no equipment ${equipment_id}`)
  const points = model.points(building_id).filter(point => point.equipment_id === equipment_id && point.source.protocol === 'csv')
  if (points.length === 0) {
    throw new Problem('mapping_empty', `No package has brought columns of ${equipment_id}; import one, then append`)
  }
  const checks = gatherChecks()
  const form = formOf(Buffer.from(csv))
  if (form.empty) throw new Problem('package_invalid', 'The chunk is empty')
  const lines: Line[] = []
  for await (const line of readTableText(csv, form.delimiter)) lines.push(line)
  const { equipment_type } = equipment
  const owner = { equipment_id, equipment_type, map: { equipType: equipment_type, points: {} } }
  const manifest = date_order === undefined ? {} : { date_order }
  const table = await scanLines('csv', form, replay(lines), { owner, manifest, timezone: building.timezone, points, checks })
  const found = checks.list().filter(({ code }) => code !== 'column_unmapped' && code !== 'unit_missing')
  if (!table || verdictOf(found) === 'fail') refuse(found)
  assertColumnsKnown(table, points)
  return { lines, table, points, checks: found }
}

async function* replay(lines: Line[]): AsyncGenerator<Line> {
  yield* lines
}

function refuse(checks: { severity: string; message: string; examples: string[] }[]): never {
  const errors = checks.filter(({ severity }) => severity === 'error')
  const detail = errors[0]?.message ?? 'The chunk cannot be read'
  throw new Problem(
    'package_invalid',
    detail,
    errors.map(({ message, examples }): DataError => ({ message, hint: examples.join('; ') })),
  )
}

function assertColumnsKnown({ columns }: ScannedTable, points: Point[]): void {
  const unknown = columns.filter(({ point }) => !point)
  if (unknown.length === 0) return
  const hint = `known are ${points.map(({ source }) => source.address).join(', ')}`
  const errors = unknown.map(({ header }): DataError => ({ column: header, message: 'no package has brought this column', hint }))
  throw new Problem('package_invalid', `Column ${unknown[0]!.header} is not in the mapping of this equipment`, errors)
}

/** Samples of all good rows, and how many rows those are. */
function takeRows(lines: Line[], { table }: ScannedTable, plan: Parameters<typeof openRows>[0]) {
  const reader = openRows(plan)
  const local = table.timezone === undefined ? undefined : localClock(table.timezone)
  const blocks: PointRows[] = []
  let taken = 0
  for (const { cells } of lines.slice(1)) {
    const instant = judgeRow(cells, plan, local)
    if (typeof instant !== 'number') continue
    taken++
    blocks.push(...reader.row(instant, cells))
  }
  blocks.push(...reader.end())
  const samples = blocks.flatMap(({ point_id, series }): Sample[] =>
    Array.from(series.ts, (t, i) => ({ id: point_id, t, v: series.values[i]! })),
  )
  if (samples.length === 0) throw new Problem('package_invalid', 'The chunk holds no value')
  return { samples, taken }
}

/** What history holds at the chunk's instants, by point and instant. */
async function knownSamples(historian: Historian, building_id: string, samples: Sample[]): Promise<Map<string, number>> {
  const point_ids = [...new Set(samples.map(({ id }) => id))]
  const from = samples.reduce((first, { t }) => Math.min(first, t), Number.POSITIVE_INFINITY)
  const to = samples.reduce((last, { t }) => Math.max(last, t), Number.NEGATIVE_INFINITY) + 1
  const held = await historian.read({ building_id, point_ids, from, to })
  return new Map(held.flatMap(({ ts, values }, i) => Array.from(ts, (t, row) => [`${point_ids[i]} ${t}`, values[row]!] as const)))
}
