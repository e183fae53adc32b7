/** Caches what is computed of a building, until its key changes. */
import { openTurns } from '#shared/node/turns.ts'

/** Buildings in a cache, most recently used first: what is kept of one with 2,000 points takes about 1 MB. */
const BUILDINGS_MAX = 16

/**
 * @returns a function that computes, or answers what was computed for the same building and key; requests at the same time
 *   wait for one computation. It throws what `compute` throws; the next call computes again
 */
export function openBuildingCache<T>(): (building_id: string, key: string, compute: () => Promise<T>) => Promise<T> {
  const kept = new Map<string, { key: string; computed: Promise<T> }>()
  const turn = openTurns()
  return async (building_id, key, compute) => {
    const known = kept.get(building_id)
    kept.delete(building_id)
    const entry = known?.key === key ? known : { key, computed: compute() }
    kept.set(building_id, entry)
    const [oldest] = kept.keys()
    if (kept.size > BUILDINGS_MAX) kept.delete(oldest!)
    entry.computed.catch(() => {
      if (kept.get(building_id) === entry) kept.delete(building_id)
    })
    await entry.computed
    await turn()
    return entry.computed
  }
}
