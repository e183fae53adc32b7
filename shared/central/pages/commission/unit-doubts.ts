/** Points whose values do not fit their unit. */
import { type Doubtful, unitDoubt } from '#shared/core/model/unit-doubt.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { openBuildingCache } from '#shared/central/building-cache.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type DataEndContext, dataEnds } from '#shared/central/pages/data-freshness.ts'

/** How long an answer holds while nobody changes the model: a day of 5,000 points is read in half a second. */
const HOLDS_MS = 5 * MINUTE

type Parts = DataEndContext & Pick<CentralContext, 'model' | 'clock'>

/** @returns a function that finds the points of a building whose values of the last day do not fit their unit */
export function openUnitDoubts(parts: Parts): CentralContext['unitDoubts'] {
  const cached = openBuildingCache<Doubtful[]>()
  return async building_id => {
    const now = parts.clock.now()
    const to = dataEnds(parts, [building_id], now).get(building_id) ?? now
    const key = JSON.stringify([parts.model.revision(building_id), Math.floor(to / HOLDS_MS)])
    return cached(building_id, key, () => findDoubts(parts, building_id, to))
  }
}

async function findDoubts({ model, historian }: Parts, building_id: string, to: number): Promise<Doubtful[]> {
  const points = model.points(building_id).filter(({ role, kind, gone }) => role !== undefined && kind === 'number' && !gone)
  if (points.length === 0) return []
  const point_ids = points.map(({ point_id }) => point_id)
  const buckets = await historian.buckets({ building_id, point_ids, from: to - DAY, to: to + 1, maxBuckets: 1 })
  return points.flatMap((point, i) => {
    const { count, min, max } = buckets[i]!
    if (!count[0]) return []
    const values: [number, number] = [min[0]!, max[0]!]
    const doubt = unitDoubt(point, values)
    return doubt ? [{ point, values, doubt }] : []
  })
}
