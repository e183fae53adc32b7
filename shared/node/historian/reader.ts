import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { toBuckets } from '#shared/core/buckets.ts'
import type { HistoryQuery, Span } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import { type Buckets, EMPTY_SERIES, type Series } from '#shared/core/series.ts'
import { type SeriesBuilder, seriesBuilder } from '#shared/core/series-builder.ts'
import { type Database, openReadOnly } from '../sqlite.ts'
import { type Duck, numbersOf, openDuck, pointRuns, text, texts } from './duck.ts'
import { openKeys } from './keys.ts'
import { openManifest, type Part, type PartPoint } from './manifest.ts'
import { readSpans } from './spans.ts'

/** How often a read starts anew because files were merged away under it. */
const ATTEMPTS = 5

export type HistoryReader = {
  read(query: HistoryQuery): Promise<Series[]>
  buckets(query: HistoryQuery & { maxBuckets: number }): Promise<Buckets[]>
  spans(building_id: string): Promise<Span[]>
  close(): void
}

/**
 * Reads history in this process, beside the process that writes it. For workers: DuckDB lives here.
 *
 * @param memoryMb limit for DuckDB
 * @throws Problem history_damaged from its methods when a sealed file cannot be read
 */
export async function openHistoryReader(at: { dbPath: string; root: string; memoryMb: number }): Promise<HistoryReader> {
  const db = openReadOnly(at.dbPath)
  const duck = await openDuck({ memoryMb: at.memoryMb, spill: undefined })
  const takeSnapshot = openSnapshots(db)

  const read = async (query: HistoryQuery): Promise<Series[]> => {
    for (let attempt = 1; ; attempt++) {
      const snapshot = takeSnapshot(query)
      try {
        return await assemble(duck, at.root, query, snapshot)
      } catch (error) {
        const gone = snapshot.parts.find(({ file }) => !existsSync(join(at.root, file)))
        if (!gone) throw error
        if (attempt === ATTEMPTS) throw new Problem('history_damaged', `the history file ${gone.file} is missing`)
      }
    }
  }
  return {
    read,
    buckets: async query => {
      const { from, to, maxBuckets } = query
      return (await read(query)).map(series => toBuckets(series, from, to, maxBuckets))
    },
    spans: building_id => readSpans(db, building_id, read),
    close: () => {
      duck.close()
      db.close()
    },
  }
}

/** What one transaction sees: the list of files, and the rows that are in none of them. */
type Snapshot = { parts: Part[]; hot: HotRow[] }
type HotRow = { point_id: string; ts: number; value: number | null }

function openSnapshots(db: Database): (query: HistoryQuery) => Snapshot {
  const keys = openKeys(db)
  const manifest = openManifest(db)
  const rows = db.prepare(
    `SELECT point_id, ts, value FROM samples JOIN history_points USING (building, point)
     WHERE building = @building AND ts >= @from AND ts < @to AND point IN (SELECT value FROM json_each(@points)) ORDER BY ts`,
  )
  return db.transaction(({ building_id, point_ids, from, to }: HistoryQuery) => {
    const building = keys.findBuilding(building_id)
    if (building === undefined) return { parts: [], hot: [] }
    const points = [...keys.findPoints(building, point_ids).values()]
    const hot = rows.all({ building, from, to, points: JSON.stringify(points) }) as HotRow[]
    return { parts: manifest.find({ building, points, from, to }), hot }
  })
}

async function assemble(duck: Duck, root: string, query: HistoryQuery, { parts, hot }: Snapshot): Promise<Series[]> {
  const builders = new Map<string, SeriesBuilder>()
  const capacities = expected(query, parts)
  const builderOf: BuilderOf = point_id => {
    const known = builders.get(point_id)
    if (known) return known
    const made = seriesBuilder(capacities.get(point_id) ?? 0)
    builders.set(point_id, made)
    return made
  }
  for (const part of parts) {
    for (const { point_id } of part.points) builderOf(point_id).begin()
    try {
      if (isWhole(part, query)) await readWhole(duck, root, part, builderOf)
      else await readCut(duck, root, part, query, builderOf)
    } catch (error) {
      throw new Problem('history_damaged', `the history file ${part.file} cannot be read: ${(error as Error).message}`)
    }
  }
  for (const point_id of new Set(hot.map(row => row.point_id))) builderOf(point_id).begin()
  for (const { point_id, ts, value } of hot) builderOf(point_id).push(ts, value ?? Number.NaN)
  const built = new Map([...builders].map(([point_id, builder]) => [point_id, builder.build()]))
  return query.point_ids.map(point_id => built.get(point_id) ?? EMPTY_SERIES)
}

type BuilderOf = (point_id: string) => SeriesBuilder

const TS = 'epoch_ms(ts)::DOUBLE'
const VALUE = "coalesce(value, 'nan'::DOUBLE)"
const source = (root: string, { file }: Part) => `read_parquet(${text(join(root, file))})`
const ofPoints = (points: PartPoint[]) => `point_id IN (${texts(points.map(({ point_id }) => point_id))})`

/** Whether every row of the part is asked for: only then do rows come in the order of the file. */
function isWhole({ points, rows }: Part, { from, to }: HistoryQuery): boolean {
  const asked = points.reduce((sum, { samples }) => sum + samples, 0)
  return asked === rows && points.every(({ first, last }) => first >= from && last < to)
}

/**
 * A part of which everything is asked for. It is known how many rows each point has, and they come sorted by point: there
 * is no need to read the point's id of each row. Nor the instants, where all samples are equally far apart. Either would
 * take as long as the values.
 */
async function readWhole(duck: Duck, root: string, part: Part, builderOf: BuilderOf): Promise<void> {
  const { points, rows } = part // in the order of the file, which is that of the ids' bytes
  const regular = points.every(({ step }) => step !== null)
  await duck.columns(regular ? [VALUE] : [VALUE, TS], source(root, part), ([values, ts]) => {
    if (values!.length !== rows) throw new Error(`it holds ${values!.length} rows of these points instead of ${rows}`)
    let from = 0
    for (const { point_id, first, step, samples } of points) {
      const own = values!.subarray(from, from + samples)
      if (ts) builderOf(point_id).append(ts.subarray(from, from + samples), own)
      else builderOf(point_id).appendEven(first, step!, own)
      from += samples
    }
  })
}

/** What a part holds of the points in a span. */
async function readCut(duck: Duck, root: string, part: Part, { from, to }: HistoryQuery, builderOf: BuilderOf): Promise<void> {
  const filter = `${ofPoints(part.points)} AND ts >= epoch_ms(${from}::BIGINT) AND ts < epoch_ms(${to}::BIGINT)`
  await duck.stream(`SELECT point_id, ${TS}, ${VALUE} FROM ${source(root, part)} WHERE ${filter}`, chunk => {
    const [ts, values] = [numbersOf(chunk, 1), numbersOf(chunk, 2)]
    // DuckDB keeps the few rows that a filter lets through of a chunk back, and gives them at the end: each run is a stretch.
    for (const run of pointRuns(chunk)) {
      const builder = builderOf(run.point_id)
      builder.begin()
      builder.append(ts.subarray(run.from, run.to), values.subarray(run.from, run.to))
    }
  })
}

/** Samples to make room for: what the files hold of a point, but no more than one in a second of the span. */
function expected({ from, to }: HistoryQuery, parts: Part[]): Map<string, number> {
  const room = new Map<string, number>()
  for (const { points } of parts) {
    for (const { point_id, samples } of points) room.set(point_id, (room.get(point_id) ?? 0) + samples)
  }
  const most = Math.ceil((to - from) / 1000)
  return new Map([...room].map(([point_id, samples]) => [point_id, Math.min(samples, most)]))
}
