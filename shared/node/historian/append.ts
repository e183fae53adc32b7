import type { Historian, HistoryQuery } from '#shared/core/ports.ts'
import type { Series } from '#shared/core/series/series.ts'
import type { Database } from '../sqlite.ts'
import { monthOf } from './folder.ts'
import { type HotSample, openHotRows, usable } from './hot/rows.ts'
import { openKeyGiver } from './keys.ts'
import type { ManifestWriter } from './manifest-writer.ts'

type Read = (query: HistoryQuery) => Promise<Series[]>

/**
 * Appends live samples to the hot chunks. Samples that are not later than the sealed samples of their point are first
 * compared with those, so that a chunk that arrives twice adds nothing, whether or not it was sealed meanwhile.
 */
export function openAppend(db: Database, manifest: ManifestWriter, read: Read): Historian['append'] {
  const give = openKeyGiver(db)
  const hot = openHotRows(db)
  const insert = db.transaction((building_id: string, samples: HotSample[]) => hot.insert(building_id, samples))

  return async (building_id, samples) => {
    const ids = new Set(samples.map(({ id }) => id))
    const { points } = give(building_id, ids)
    hot.prepare(building_id, ids)
    for (;;) {
      const version = manifest.version()
      const late = samples.filter(({ id, t }) => t <= manifest.lastSealed(points.get(id)!))
      const stored = late.length ? await readStored(building_id, late, read) : undefined
      if (version !== manifest.version()) continue // Files were sealed meanwhile: compare again.
      const { added } = insert(building_id, stored ? withoutDuplicates(samples, stored) : samples)
      return { added, duplicate: samples.length - added }
    }
  }
}

/** Stored values by point and instant. */
type StoredValues = Map<string, Map<number, number>>

/**
 * Reads the stored values of the months of the late samples. Reading month by month bounds the cost of a single sample with
 * an old instant.
 */
async function readStored(building_id: string, late: HotSample[], read: Read): Promise<StoredValues> {
  const stored: StoredValues = new Map()
  for (const samples of Map.groupBy(late, ({ t }) => monthOf(t)).values()) {
    const times = samples.map(({ t }) => t).toSorted((a, b) => a - b)
    const point_ids = [...new Set(samples.map(({ id }) => id))]
    const series = await read({ building_id, point_ids, from: times[0]!, to: times.at(-1)! + 1 })
    for (const [i, { ts, values }] of series.entries()) {
      const known = stored.get(point_ids[i]!) ?? new Map<number, number>()
      for (let j = 0; j < ts.length; j++) known.set(ts[j]!, values[j]!)
      stored.set(point_ids[i]!, known)
    }
  }
  return stored
}

/**
 * Leaves out samples that are stored with the same value, one after the other: each is compared with the samples before it
 * as well.
 */
function withoutDuplicates(samples: HotSample[], stored: StoredValues): HotSample[] {
  return samples.filter(sample => {
    const known = stored.get(sample.id)
    const before = known?.get(sample.t)
    const value = usable(sample)
    if (before === value || (Number.isNaN(before) && Number.isNaN(value))) return false
    known?.set(sample.t, value)
    return true
  })
}
