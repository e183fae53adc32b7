import type { Historian, HistoryQuery } from '#shared/core/ports.ts'
import type { Series } from '#shared/core/series/series.ts'
import type { Database } from '../sqlite.ts'
import { monthOf } from './folder.ts'
import { type HotSample, openHotRows, usable } from './hot.ts'
import { openKeyGiver } from './keys.ts'
import type { ManifestWriter } from './manifest-writer.ts'

type Read = (query: HistoryQuery) => Promise<Series[]>

/**
 * Live samples go to the hot rows at once. Only what is not later than a point's sealed samples is compared with those
 * first, so that a chunk that comes twice adds nothing, whether it was sealed meanwhile or not.
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
      const held = late.length ? await heldAt(building_id, late, read) : undefined
      if (version !== manifest.version()) continue // sealed meanwhile: look again
      const { added } = insert(building_id, held ? withoutHeld(samples, held) : samples)
      return { added, duplicate: samples.length - added }
    }
  }
}

/** What history holds, by point and instant. */
type Held = Map<string, Map<number, number>>

/** Looks up the months of the late samples; one read for each month bounds what a single odd instant can cost. */
async function heldAt(building_id: string, late: HotSample[], read: Read): Promise<Held> {
  const held: Held = new Map()
  for (const samples of Map.groupBy(late, ({ t }) => monthOf(t)).values()) {
    const times = samples.map(({ t }) => t).toSorted((a, b) => a - b)
    const point_ids = [...new Set(samples.map(({ id }) => id))]
    const series = await read({ building_id, point_ids, from: times[0]!, to: times.at(-1)! + 1 })
    for (const [i, { ts, values }] of series.entries()) {
      const known = held.get(point_ids[i]!) ?? new Map<number, number>()
      for (let j = 0; j < ts.length; j++) known.set(ts[j]!, values[j]!)
      held.set(point_ids[i]!, known)
    }
  }
  return held
}

/** Leaves out what is held with the same value, one sample after the other: a later one meets what an earlier one left. */
function withoutHeld(samples: HotSample[], held: Held): HotSample[] {
  return samples.filter(sample => {
    const known = held.get(sample.id)
    const before = known?.get(sample.t)
    const value = usable(sample)
    if (before === value || (Number.isNaN(before) && Number.isNaN(value))) return false
    known?.set(sample.t, value)
    return true
  })
}
