/** What the journal knows of the points on the list of field devices, for rules and plots: in each point's own unit. */
import { setImmediate } from 'node:timers/promises'
import { formatTarget, parseTarget, PRESENT_VALUE } from '#shared/core/bacnet/object.ts'
import type { PriorityJournal, PriorityQuery, ArraySnapshots } from '#shared/core/ports.ts'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { isInput, priorityKey, type PriorityRecord } from '#shared/core/priority/priority-record.ts'
import { type ArraySnapshot, arraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import type { Catalogue, DeviceEntry, PointEntry } from '../store/catalogue-schema.ts'
import type { Site } from '../store/site.ts'

/** Records that are read in one go; polling has its turn in between. */
const CHUNK = 500

export type CatalogueObject = { device: DeviceEntry; point: PointEntry }

/** Points that read a present value, by the object that they read; of two on one object the first. */
export function pointsByObject({ devices }: Catalogue): Map<string, CatalogueObject> {
  const found = new Map<string, CatalogueObject>()
  for (const device of devices) {
    if (!device.bacnet) continue
    for (const point of device.points) {
      const target = parseTarget(point.address)
      if (typeof target === 'string' || target.property !== PRESENT_VALUE) continue
      const { device_id, bacnet } = device
      const { device_instance } = bacnet
      const [object_type = ''] = formatTarget(target).split(/[,/]/)
      const key = priorityKey({ device_id, device_instance, object_type, object_instance: target.instance })
      if (!found.has(key)) found.set(key, { device, point })
    }
  }
  return found
}

export type SnapshotOptions = {
  journal: () => Pick<PriorityJournal, 'page' | 'latest' | 'state'>
  catalogue: () => Catalogue
  site: Pick<Site, 'building' | 'priority_levels'>
}

/** A journal that is shut knows nothing; the rules then say what they lack. */
export function journalSnapshots({ journal, catalogue, site }: SnapshotOptions): ArraySnapshots {
  const { building, priority_levels } = site
  const meanings = levelMeanings(priority_levels)
  return {
    async snapshots(building_id, { from, to, point_ids }) {
      const kept = journal()
      if (building_id !== building.building_id || kept.state().journal === 'disabled') return {}
      const points = pointsByObject(catalogue())
      const found: Record<string, ArraySnapshot[]> = {}
      const take = (record: PriorityRecord) => {
        const point = points.get(priorityKey(record.target))?.point
        // Nobody commands an input: to a rule it has no array.
        if (!point || record.observed_at >= to || isInput(record.target)) return
        const { point_id, scale = 1, offset = 0 } = point
        const visits = (found[point_id] ??= [])
        visits.push(arraySnapshot(record, { scale, offset }, meanings, building.timezone))
      }
      const asked = point_ids && [...points].filter(([, { point }]) => point_ids.includes(point.point_id))
      const targets = asked?.flatMap(([key]) => kept.latest().get(key)?.target ?? []) ?? [undefined]
      for (const target of targets) await readBack(kept, { since: from, ...(target && { target }) }, take)
      // A clock that was set back must not put a later visit before an earlier one.
      for (const visits of Object.values(found)) visits.sort((a, b) => a.t - b.t)
      return found
    },
  }
}

/** Hands over what matches, newest first. */
async function readBack(
  journal: Pick<PriorityJournal, 'page'>,
  query: Pick<PriorityQuery, 'since' | 'target'>,
  take: (record: PriorityRecord) => void,
): Promise<void> {
  for (let before: number | undefined, more = true; more; ) {
    const page = journal.page({ ...query, limit: CHUNK, ...(before !== undefined && { before }) })
    page.records.forEach(take)
    before = page.records.at(-1)?.seq
    more = page.more && before !== undefined
    await setImmediate()
  }
}
