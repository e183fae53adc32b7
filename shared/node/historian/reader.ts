import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { toBuckets } from '#shared/core/buckets.ts'
import type { HistoryQuery, Span } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import { type Buckets, EMPTY_SERIES, type Series } from '#shared/core/series.ts'
import { type SeriesBuilder, seriesBuilder } from '#shared/core/series-builder.ts'
import { type Database, openReadOnly } from '../sqlite.ts'
import { type Chunk, type Duck, openDuck, pointRuns, text, texts } from './duck.ts'
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
  const builderOf = (point_id: string): SeriesBuilder => {
    const known = builders.get(point_id)
    if (known) return known
    const made = seriesBuilder(capacities.get(point_id) ?? 0)
    builders.set(point_id, made)
    return made
  }
  for (const { file, points } of parts) {
    for (const { point_id } of points) builderOf(point_id).begin()
    const sql = `SELECT point_id, epoch_ms(ts)::DOUBLE, coalesce(value, 'nan'::DOUBLE) FROM read_parquet(${text(join(root, file))})
      WHERE point_id IN (${texts(points.map(({ point_id }) => point_id))}) ${within(points, query)}`
    try {
      await duck.stream(sql, chunk => pushChunk(chunk, builderOf))
    } catch (error) {
      throw new Problem('history_damaged', `the history file ${file} cannot be read: ${(error as Error).message}`)
    }
  }
  for (const point_id of new Set(hot.map(row => row.point_id))) builderOf(point_id).begin()
  for (const { point_id, ts, value } of hot) builderOf(point_id).push(ts, value ?? Number.NaN)
  const built = new Map([...builders].map(([point_id, builder]) => [point_id, builder.build()]))
  return query.point_ids.map(point_id => built.get(point_id) ?? EMPTY_SERIES)
}

/** Nothing where the whole file lies in the span: the plain scan is quicker. */
function within(points: PartPoint[], { from, to }: HistoryQuery): string {
  if (points.every(({ first, last }) => first >= from && last < to)) return ''
  return `AND ts >= epoch_ms(${from}::BIGINT) AND ts < epoch_ms(${to}::BIGINT)`
}

/** A filter keeps the few rows that it lets through of a chunk back and gives them at the end: each run is a stretch. */
function pushChunk(chunk: Chunk, builderOf: (point_id: string) => SeriesBuilder): void {
  const [ts, values] = [chunk.getColumnVector(1), chunk.getColumnVector(2)]
  for (const { point_id, from, to } of pointRuns(chunk)) {
    const builder = builderOf(point_id)
    builder.begin()
    for (let i = from; i < to; i++) builder.push(ts.getItem(i) as number, values.getItem(i) as number)
  }
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
