import { createSerialQueue } from '#shared/flow/serial-queue.ts'
import { type Check, createCheckReport, hintsFor, placesOf, worstVerdict } from '#shared/core/csv/checks.ts'
import { localClock } from '#shared/core/csv/local-clock.ts'
import { planPoints, type ScannedTable } from '#shared/core/csv/package-plan.ts'
import type { TableRecord } from '#shared/core/csv/record.ts'
import { rowInstant, createRowReader, type TablePlan } from '#shared/core/csv/row-reader.ts'
import type { DateOrder } from '#shared/core/csv/timestamp.ts'
import type { Point } from '#shared/core/model/model.ts'
import { latestPlausible } from '#shared/core/telemetry/misdated.ts'
import type { Clock, Historian, PointRows } from '#shared/core/ports.ts'
import { needBuilding, needEquipment } from '#shared/core/lookup.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import type { ModelStore } from '#shared/core/stores.ts'
import { createAddition } from './addition.ts'
import { detectForm, readTableText } from './read-table.ts'
import { scanLines } from './scan-table.ts'

/**
 * Maximum number of cells in a chunk, blank ones included: a thousand columns every four seconds for an hour. Chunks are
 * read in the main process, about 10 s for this many cells; larger data is imported as a package.
 */
export const CELLS_MAX = 1_000_000
/** Maximum length of all waiting chunks, characters: two of the largest, or a thousand that hold one hour. */
const WAITING_MAX = 64 * 1024 * 1024

type AppendRequest = { building_id: string; equipment_id: string; csv: string; date_order?: DateOrder }
type Parts = { model: ModelStore; historian: Historian; clock: Pick<Clock, 'now'> }

/** Adds chunks of rows one at a time, so that the memory for reading a chunk is needed once. */
export class ChunkQueue {
  readonly #parts: Parts
  readonly #inTurn = createSerialQueue()
  /** Characters of the chunks that are being added or wait. */
  #waiting = 0

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /**
   * Adds a chunk of rows to equipment that an earlier package has imported. A repeated chunk adds nothing. New state texts
   * are added to their points before the samples that refer to them.
   *
   * @throws Problem unknown_building, unknown_equipment, mapping_empty (no package came yet), package_invalid, too_large,
   *   conflict when a point has changed meanwhile, or not_ready when too many chunks wait
   */
  async append(request: AppendRequest) {
    const { length } = request.csv
    if (this.#waiting + length > WAITING_MAX) {
      throw new Problem('not_ready', 'Too many chunks wait to be added; send this one again later')
    }
    this.#waiting += length
    try {
      return await this.#inTurn(() => addChunk(request, this.#parts))
    } finally {
      this.#waiting -= length
    }
  }
}

async function addChunk(request: AppendRequest, { model, historian, clock }: Parts) {
  const { building_id, equipment_id } = request
  const { table, points, checks } = await scanChunk(request, model, latestPlausible(clock.now()))
  const planned = planPoints(building_id, [table], points)
  const plan = planned.tables[0]!
  const addition = createAddition(building_id, historian)
  addStates(building_id, planned.points, points, model)
  let taken = 0
  for await (const { rows, block } of readBlocks(request.csv, plan)) {
    taken += rows
    await addition.add(block)
  }
  const { first, last: end, instants } = addition.end()
  if (Number.isNaN(first)) refuse(checks, 'The chunk has no value')
  return {
    building_id,
    equipment_id,
    rows_in: table.scan.rows_in,
    rows_added: instants,
    rows_duplicate: taken - instants,
    rows_rejected: table.scan.rows_rejected,
    ts_min: first,
    ts_max: end,
    checks,
  }
}

/** Scans the chunk and plans its columns. */
async function scanChunk({ building_id, equipment_id, csv, date_order }: AppendRequest, model: ModelStore, latest: number) {
  const building = needBuilding(model, building_id)
  const equipment = needEquipment(model, building_id, equipment_id)
  const points = model.points(building_id).filter(point => point.equipment_id === equipment_id && point.source.protocol === 'csv')
  if (points.length === 0) {
    throw new Problem('mapping_empty', `No columns of ${equipment_id} were imported; import a package, then append`)
  }
  const checks = createCheckReport()
  const form = detectForm(Buffer.from(csv))
  if (form.empty) throw new Problem('package_invalid', 'The chunk is empty')
  const { equipment_type } = equipment
  const owner = { equipment_id, equipment_type, map: { equipType: equipment_type, points: {} } }
  const manifest = date_order === undefined ? {} : { date_order }
  const lines = bounded(readTableText(csv, form))
  const [table] = await scanLines({ file: 'csv', form }, lines, [{ path: 'csv', owner, points }], {
    ...{ manifest, timezone: building.timezone, latest, checks },
  })
  const found = checks.list().filter(({ code }) => code !== 'unit_missing')
  if (!table || worstVerdict(found) === 'fail') refuse(found, 'The chunk cannot be read')
  assertColumnsKnown(table, points)
  return { table, points, checks: found }
}

/** @throws Problem too_large */
async function* bounded(records: AsyncIterable<TableRecord[]>): AsyncGenerator<TableRecord[]> {
  let cells = 0
  for await (const some of records) {
    for (const record of some) {
      cells += record.width()
      if (cells > CELLS_MAX) {
        const detail = `The chunk has more than ${CELLS_MAX} cells, from line ${record.line} on; split it, or send it as a package`
        throw new Problem('too_large', detail)
      }
    }
    yield some
  }
}

/** @throws Problem package_invalid with the locations, errors first */
function refuse(checks: Check[], otherwise: string): never {
  const errors = checks.filter(({ severity }) => severity === 'error')
  const warnings = checks.filter(({ severity }) => severity === 'warning')
  const listed = [...errors, ...warnings]
  throw new Problem('package_invalid', errors[0]?.message ?? otherwise, listed.flatMap(placesOf), hintsFor(listed))
}

function assertColumnsKnown({ columns }: ScannedTable, points: Point[]): void {
  const unknown = columns.filter(({ point }) => !point)
  if (unknown.length === 0) return
  const hint = `known are ${points.map(({ source }) => source.address).join(', ')}`
  const errors = unknown.map(
    ({ header }): DataError => ({ column: header, message: 'this column was not imported with a package', hint }),
  )
  throw new Problem('package_invalid', `Column ${unknown[0]!.header} is not in the mapping of this equipment`, errors)
}

/** Adds new states of the chunk to the model; its numbers refer to them. */
function addStates(building_id: string, planned: Point[], before: Point[], model: ModelStore): void {
  const known = new Map(before.map(point => [point.point_id, point.states ?? []]))
  const grown = planned.filter(({ point_id, states = [] }) => states.length > known.get(point_id)!.length)
  if (grown.length === 0) return
  const now = new Map(model.points(building_id).map(point => [point.point_id, point]))
  const points = grown.map(({ point_id, states, kind }): Point => {
    const point = now.get(point_id)!
    const isSame = (point.states ?? []).join('\n') === known.get(point_id)!.join('\n')
    if (!isSame) throw new Problem('conflict', `The states of ${point_id} have changed while the chunk was read; send it again`)
    return { ...point, kind, states: states! }
  })
  model.put({ points })
}

/**
 * Reads the chunk again: the samples of its valid rows, block by block, each with the number of rows since the previous
 * block.
 */
async function* readBlocks(csv: string, plan: TablePlan): AsyncGenerator<{ rows: number; block: PointRows[] }> {
  const reader = createRowReader(plan)
  const local = plan.timezone === undefined ? undefined : localClock(plan.timezone)
  let isHeader = true
  let rows = 0
  for await (const records of readTableText(csv, plan)) {
    for (const record of records) {
      const instant = isHeader ? undefined : rowInstant(record, plan, local)
      isHeader = false
      if (typeof instant !== 'number') continue
      rows++
      const block = reader.row(instant, record)
      if (block.length === 0) continue
      yield { rows, block }
      rows = 0
    }
  }
  yield { rows, block: reader.end() }
}
