import { INSTANT_MIN, MINUTE } from '#shared/core/time.ts'
import type { Database } from '../sqlite.ts'
import type { Worker } from '#shared/node/worker/worker.ts'
import type { RemoveParts } from './folder.ts'
import { HOT_SPAN } from './hot/chunks.ts'
import { openManifest } from './manifest.ts'
import type { ManifestWriter } from './manifest-writer.ts'
import { planMerge, RANKS_MAX } from './plan-merge.ts'
import type { WriteHandlers } from './write-worker.ts'

export type SealCount = { parts: number; rows: number }
type SealSpan = { building_id?: string; from?: number; before: number }
export type Sealer = {
  /** Moves hot samples of `[from, before)`, and the others of its first and last minute, to files, for one building or for all. */
  seal(span: SealSpan): Promise<SealCount>
  /** Merges parts where a month of a building has too many. */
  merge(): Promise<void>
}

/** Moves samples from the database to files and merges files. Callers run one operation at a time. */
export function openSealer(db: Database, remove: RemoveParts, manifest: ManifestWriter, writer: Worker<WriteHandlers>): Sealer {
  const buildings = db.prepare('SELECT building, building_id FROM history_buildings ORDER BY building')
  const isHot = db.prepare(`SELECT 1 FROM hot_chunks WHERE ${HOT_SPAN} LIMIT 1`).pluck()
  const forget = db.prepare(`DELETE FROM hot_chunks WHERE ${HOT_SPAN} AND epoch < @epoch RETURNING samples`).pluck()
  const { all, crowded } = openManifest(db)
  const known = (building_id?: string) =>
    (buildings.all() as { building: number; building_id: string }[]).filter(
      each => building_id === undefined || each.building_id === building_id,
    )

  const seal: Sealer['seal'] = async span => {
    const [first, before] = wholeMinutes(span)
    const count = { parts: 0, rows: 0 }
    const epoch = manifest.nextEpoch()
    for (const each of known(span.building_id)) {
      // The process that writes is not started for nothing.
      if (isHot.get({ building: each.building, from: first, to: before }) === undefined) continue
      for (let from = first, n = 0; from < before; n++) {
        const slice = await writer.request('seal', { ...each, from, before, epoch, n })
        if (!slice) break
        count.rows += manifest.commit(list => {
          if (slice.part) list.add(each.building, epoch, [slice.part])
          return sumOf(forget.all({ building: each.building, from: slice.from, to: slice.to, epoch }) as number[])
        })
        count.parts += slice.part ? 1 : 0
        from = slice.to
      }
    }
    return count
  }

  const merge = async () => {
    for (const { building, building_id, month } of crowded(RANKS_MAX)) {
      const parts = planMerge(all(building, month))
      const merged = await writer.request('merge', { building_id, month, parts, epoch: manifest.nextEpoch() })
      manifest.commit(list => {
        list.drop(parts.map(({ part }) => part))
        list.add(building, parts.at(-1)!.rank, merged)
      })
      await remove(parts.map(({ file }) => file))
    }
  }
  return { seal, merge }
}

function wholeMinutes({ from = INSTANT_MIN, before }: SealSpan): [from: number, before: number] {
  return [Math.floor(from / MINUTE) * MINUTE, Math.ceil(before / MINUTE) * MINUTE]
}

const sumOf = (counts: number[]): number => counts.reduce((sum, count) => sum + count, 0)
