import {
  type BuildingExtent,
  buildingExtents,
  extentOf,
  type HistoryBounds,
  type HistoryExtent,
  nextQuotaStep,
  type QuotaStep,
  THIN_MS,
} from '#shared/core/series/history-quota.ts'
import type { Database } from '../sqlite.ts'
import type { Worker } from '#shared/node/worker/worker.ts'
import { monthOf, type RemoveParts } from './folder.ts'
import { openManifest } from './manifest.ts'
import type { ManifestWriter } from './manifest-writer.ts'
import type { WriteHandlers } from './write-worker.ts'

export type HistoryQuota = {
  /**
   * Makes one step towards the quota: thins or drops the oldest month of a building.
   *
   * @param now ms
   * @returns what was done; undefined when nothing is to be done
   */
  shrink(now: number): Promise<QuotaStep | undefined>
  /** Of all history. */
  extent(): HistoryExtent
  /** Of one building, or of each that has any. */
  extents(building_id?: string): BuildingExtent[]
}

/** Bounds the space of sealed history. Callers run one operation at a time. */
export function openQuota(
  db: Database,
  remove: RemoveParts,
  manifest: ManifestWriter,
  writer: Worker<WriteHandlers>,
  bounds: HistoryBounds,
): HistoryQuota {
  const { all, months } = openManifest(db)
  const keyOf = db.prepare('SELECT building FROM history_buildings WHERE building_id = ?').pluck()
  return {
    extent: () => extentOf(months(), bounds.max_bytes),
    extents: building_id => buildingExtents(months(building_id), bounds.building_max_bytes),
    async shrink(now) {
      const step = nextQuotaStep(months(), monthOf(now), bounds)
      if (!step) return undefined
      const { building_id, month, what } = step
      const building = keyOf.get(building_id) as number
      const parts = all(building, month)
      const input = { building_id, month, parts, epoch: manifest.nextEpoch(), slotMs: THIN_MS }
      const thinned = what === 'thin' ? await writer.request('merge', input) : []
      manifest.commit(list => {
        list.drop(parts.map(({ part }) => part))
        list.add(building, parts.at(-1)!.rank, thinned, true)
      })
      await remove(parts.map(({ file }) => file))
      return step
    },
  }
}
