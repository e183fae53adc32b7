import type { HistoryQuery, Span } from '#shared/core/ports.ts'
import type { Series } from '#shared/core/series.ts'
import type { Database } from '../sqlite.ts'
import { openKeys } from './keys.ts'
import { openManifest, type Stretch } from './manifest.ts'

/**
 * What is held of each point: added up from the manifest and the hot rows. Only where stretches overlap, so that an
 * instant may be held twice, is the point read and counted.
 */
export async function readSpans(
  db: Database,
  building_id: string,
  read: (query: HistoryQuery) => Promise<Series[]>,
): Promise<Span[]> {
  const spans: Span[] = []
  for (const [point_id, held] of stretches(db, building_id)) {
    const first = Math.min(...held.map(stretch => stretch.first))
    const last = Math.max(...held.map(stretch => stretch.last))
    const counted = overlap(held) ? await read({ building_id, point_ids: [point_id], from: first, to: last + 1 }) : undefined
    const samples = counted ? counted[0]!.ts.length : held.reduce((sum, stretch) => sum + stretch.samples, 0)
    spans.push({ point_id, first, last, samples })
  }
  return spans
}

/** By point, in the order of their ids. */
function stretches(db: Database, building_id: string): Map<string, Stretch[]> {
  const hot = db.prepare(
    `SELECT point_id, min(ts) AS first, max(ts) AS last, count(*) AS samples
     FROM samples JOIN history_points USING (building, point) WHERE building = ? GROUP BY point`,
  )
  const all = db.transaction(() => {
    const building = openKeys(db).findBuilding(building_id)
    if (building === undefined) return []
    return [
      ...openManifest(db)
        .all(building)
        .flatMap(({ points }) => points),
      ...(hot.all(building) as Stretch[]),
    ]
  })()
  const byPoint = Map.groupBy(all, ({ point_id }) => point_id)
  return new Map([...byPoint].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

function overlap(held: Stretch[]): boolean {
  const sorted = held.toSorted((a, b) => a.first - b.first)
  return sorted.some((stretch, i) => i > 0 && stretch.first <= sorted[i - 1]!.last)
}
