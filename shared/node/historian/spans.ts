import type { Historian, HistoryQuery, PointSpan } from '#shared/core/ports.ts'
import type { Series } from '#shared/core/series/series.ts'
import type { Database } from '../sqlite.ts'
import { openHotReader } from './hot/hot-reader.ts'
import { openKeys } from './keys.ts'
import { openManifest } from './manifest.ts'

/**
 * The span of each point, from the manifest and the hot samples. A point is read and counted only where its parts and hot samples
 * overlap, because an instant may then be stored twice.
 */
export async function readSpans(
  db: Database,
  { building_id, point_ids }: { building_id: string; point_ids?: string[] | undefined },
  read: (query: HistoryQuery) => Promise<Series[]>,
): Promise<PointSpan[]> {
  const spans: PointSpan[] = []
  for (const [point_id, held] of stretches(db, building_id, point_ids)) {
    const first = Math.min(...held.map(stretch => stretch.first))
    const last = Math.max(...held.map(stretch => stretch.last))
    const counted = overlap(held) ? await read({ building_id, point_ids: [point_id], from: first, to: last + 1 }) : undefined
    const samples = counted ? counted[0]!.ts.length : held.reduce((sum, stretch) => sum + stretch.samples, 0)
    spans.push({ point_id, first, last, samples })
  }
  return spans
}

/** The newest sample of a building: in its last minute that is not sealed, or in the files of its last month. */
export function openLastAt(db: Database): Historian['lastAt'] {
  const { findBuilding } = openKeys(db)
  const last = db
    .prepare(
      `SELECT max(last) FROM (
         SELECT max(last) AS last FROM hot_chunks WHERE building = @building AND minute = (SELECT max(minute) FROM hot_chunks WHERE building = @building)
         UNION ALL SELECT max(last) FROM parts JOIN part_points USING (part)
           WHERE building = @building AND month = (SELECT max(month) FROM parts WHERE building = @building))`,
    )
    .pluck()
  return building_id => (last.get({ building: findBuilding(building_id) ?? null }) as number | null) ?? undefined
}

/**
 * The first sample of each point. Hot samples are searched only before the first sealed sample; all of them while some point
 * has no sealed file.
 */
export function readFirsts(db: Database, building_id: string): Record<string, number> {
  const points = db.prepare(
    `SELECT point, point_id, (SELECT min(first) FROM part_points WHERE part_points.point = history_points.point) AS first
     FROM history_points WHERE building = ?`,
  )
  const { known, earlier } = db.transaction(() => {
    const building = openKeys(db).findBuilding(building_id)
    const known = (building === undefined ? [] : points.all(building)) as {
      point: number
      point_id: string
      first: number | null
    }[]
    const until = Math.max(...known.map(({ first }) => first ?? Number.MAX_SAFE_INTEGER))
    const earlier = new Map<number, number>()
    const ask = { building: building ?? 0, from: -Infinity, to: until }
    openHotReader(db).read(
      ask,
      known.map(({ point }) => point),
      (point, ts) => earlier.has(point) || earlier.set(point, ts),
    )
    return { known, earlier }
  })()
  const firsts = known.map(({ point, point_id, first }) => [
    point_id,
    Math.min(first ?? Infinity, earlier.get(point) ?? Infinity),
  ])
  return Object.fromEntries(firsts.filter(([, first]) => Number.isFinite(first)))
}

/** By point, in the order of their ids. */
function stretches(db: Database, building_id: string, point_ids: string[] | undefined): Map<string, PointSpan[]> {
  const all = db.transaction(() => {
    const [keys, manifest] = [openKeys(db), openManifest(db)]
    const building = keys.findBuilding(building_id)
    if (building === undefined) return []
    const points = point_ids && [...keys.findPoints(building, point_ids).values()]
    const names = keys.names(building)
    const hot = openHotReader(db).stretches(building, points ?? [...names.keys()])
    const parts = points ? manifest.find({ building, points, from: -Infinity, to: Infinity }) : manifest.all(building)
    return [
      ...parts.flatMap(part => part.points),
      ...hot.map(({ point, ...stretch }): PointSpan => ({ point_id: names.get(point)!, ...stretch })),
    ]
  })()
  const byPoint = Map.groupBy(all, ({ point_id }) => point_id)
  return new Map([...byPoint].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function overlap(held: PointSpan[]): boolean {
  const sorted = held.toSorted((a, b) => a.first - b.first)
  return sorted.some((stretch, i) => i > 0 && stretch.first <= sorted[i - 1]!.last)
}
