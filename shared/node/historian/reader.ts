import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { inWholeHours } from '#shared/core/series/buckets.ts'
import type { HistoryQuery, HistoryReader } from '#shared/core/ports.ts'
import { Problem } from '#shared/core/problem.ts'
import { EMPTY_SERIES, type Series } from '#shared/core/series/series.ts'
import { type SeriesBuilder, createSeriesBuilder } from '#shared/core/series/series-builder.ts'
import { type Database, openReadOnly } from '../sqlite.ts'
import { readBuckets, type Snapshot } from './bucket-reader.ts'
import { openColumnCache } from './column-cache.ts'
import { openHotReader } from './hot/hot-reader.ts'
import { openKeys } from './keys.ts'
import { openManifest, type Part } from './manifest.ts'
import type { PartReader } from './part-reader.ts'
import { readFirsts, readSpans } from './spans.ts'

/** How often a read is repeated because its files were merged and deleted meanwhile. */
const ATTEMPTS = 5

export type OpenHistoryReader = HistoryReader & {
  /** Loads DuckDB before a read needs it. What fails then fails again in that read. */
  warm(): void
  close(): void
}

/**
 * Reads history in this process while another process writes it. It is meant for workers: the first read that needs a sealed
 * file loads DuckDB, unless `warm` did.
 *
 * @param memoryMb limit for DuckDB
 * @throws Problem history_damaged from its methods when a sealed file cannot be read
 */
export async function openHistoryReader(at: { dbPath: string; root: string; memoryMb: number }): Promise<OpenHistoryReader> {
  const db = openReadOnly(at.dbPath)
  const takeSnapshot = openSnapshots(db)
  let opening: Promise<PartReader> | undefined
  let parts: PartReader | undefined
  const openParts = async () => {
    const { openPartReader } = await import('./part-reader.ts')
    return (parts = await openPartReader(at))
  }
  const partReader = () => (opening ??= openParts())
  const columnsOf = openColumnCache(partReader)

  /** Repeats the work while files of its snapshot are merged and deleted. */
  const withSnapshot = async <T>(query: SnapshotQuery, work: (snapshot: Snapshot) => Promise<T>): Promise<T> => {
    for (let attempt = 1; ; attempt++) {
      const snapshot = takeSnapshot(query)
      try {
        return await work(snapshot)
      } catch (error) {
        const gone = snapshot.parts.find(({ file }) => !existsSync(join(at.root, file)))
        if (!gone) throw error
        if (attempt === ATTEMPTS) throw new Problem('history_damaged', `the history file ${gone.file} is missing`)
      }
    }
  }
  const read = (query: HistoryQuery) => withSnapshot(query, snapshot => assemble(partReader, query, snapshot))
  return {
    read,
    buckets: query => {
      const asked = { ...query, ...inWholeHours(query) }
      return withSnapshot(asked, snapshot => readBuckets(columnsOf, asked, snapshot))
    },
    spans: (building_id, point_ids) => readSpans(db, { building_id, point_ids }, read),
    firsts: async building_id => readFirsts(db, building_id),
    warm: () => void partReader().catch(() => undefined),
    close: () => {
      parts?.close()
      db.close()
    },
  }
}

type SnapshotQuery = HistoryQuery & { isHourly?: boolean }

function openSnapshots(db: Database): (query: SnapshotQuery) => Snapshot {
  const keys = openKeys(db)
  const manifest = openManifest(db)
  const hotReader = openHotReader(db)
  return db.transaction(({ building_id, point_ids, from, to, isHourly }: SnapshotQuery) => {
    const building = keys.findBuilding(building_id)
    if (building === undefined) return { parts: [], hot: new Map() }
    const keyOf = keys.findPoints(building, point_ids)
    const points = [...keyOf.values()]
    const builders: SeriesBuilder[] = []
    for (const point of points) builders[point] = createSeriesBuilder(0)
    hotReader.read({ building, from, to }, points, (point, ts, value) => builders[point]!.push(ts, value))
    const hot = new Map([...keyOf].map(([point_id, point]) => [point_id, builders[point]!.build()]))
    const find = isHourly ? manifest.findHours : manifest.find
    return { parts: find({ building, points, from, to }), hot }
  })
}

async function assemble(partReader: () => Promise<PartReader>, query: HistoryQuery, { parts, hot }: Snapshot): Promise<Series[]> {
  const builders = new Map<string, SeriesBuilder>()
  const capacities = capacitiesOf(query, parts)
  const builderOf = (point_id: string): SeriesBuilder => {
    const known = builders.get(point_id)
    if (known) return known
    const made = createSeriesBuilder(capacities.get(point_id) ?? 0)
    builders.set(point_id, made)
    return made
  }
  for (const part of parts) await (await partReader()).read(part, query, builderOf)
  for (const [point_id, { ts, values }] of hot) {
    const builder = builderOf(point_id)
    builder.begin()
    builder.append(ts, values)
  }
  const built = new Map([...builders].map(([point_id, builder]) => [point_id, builder.build()]))
  return query.point_ids.map(point_id => built.get(point_id) ?? EMPTY_SERIES)
}

/** Number of samples to allocate by point: those of its files, but at most one for each second of the span. */
function capacitiesOf({ from, to }: HistoryQuery, parts: Part[]): Map<string, number> {
  const capacities = new Map<string, number>()
  for (const { points } of parts) {
    for (const { point_id, samples } of points) capacities.set(point_id, (capacities.get(point_id) ?? 0) + samples)
  }
  const most = Math.ceil((to - from) / 1000)
  return new Map([...capacities].map(([point_id, samples]) => [point_id, Math.min(samples, most)]))
}
