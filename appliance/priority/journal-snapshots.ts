/** Reads snapshots of the listed points from the journal, for rules and plots, in the unit of each point. */
import { setImmediate } from 'node:timers/promises'
import { formatTarget, parseTarget, PRESENT_VALUE } from '#shared/core/bacnet/object.ts'
import type { PriorityJournal, PriorityQuery, ArraySnapshots } from '#shared/core/ports.ts'
import type { LevelMeaning } from '#shared/core/priority/priority-levels.ts'
import { isInput, priorityKey, type PriorityRecord } from '#shared/core/priority/priority-record.ts'
import { type ArraySnapshot, arraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import type { DeviceCatalogue, DeviceEntry, PointEntry } from '../store/catalogue-schema.ts'
import type { SiteSettings } from '../store/site.ts'

/** Records read at once. Polling continues between two such reads. */
const CHUNK = 500

type CatalogueObject = { device: DeviceEntry; point: PointEntry }

/** Points of present values, by the object that they read; the first of several points of one object. */
export function pointsByObject({ devices }: DeviceCatalogue): Map<string, CatalogueObject> {
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

type SnapshotOptions = {
  journal: () => Pick<PriorityJournal, 'page' | 'latest' | 'state'>
  catalogue: () => DeviceCatalogue
  building: SiteSettings['building']
  levels: () => LevelMeaning[]
}

/** While the journal is disabled there are no snapshots, and rules report their missing inputs. */
export function journalSnapshots({ journal, catalogue, building, levels }: SnapshotOptions): ArraySnapshots {
  return {
    levels,
    async snapshots(building_id, { from, to, point_ids }) {
      const source = journal()
      if (building_id !== building.building_id || source.state().journal === 'disabled') return {}
      const points = pointsByObject(catalogue())
      const meanings = levels()
      const found: Record<string, ArraySnapshot[]> = {}
      const take = (record: PriorityRecord) => {
        const point = points.get(priorityKey(record.target))?.point
        // An input has no array for rules.
        if (!point || record.observed_at >= to || isInput(record.target)) return
        const { point_id, scale = 1, offset = 0 } = point
        const visits = (found[point_id] ??= [])
        visits.push(arraySnapshot(record, { scale, offset }, meanings, building.timezone))
      }
      const asked = point_ids && [...points].filter(([, { point }]) => point_ids.includes(point.point_id))
      const targets = asked?.flatMap(([key]) => source.latest().get(key)?.target ?? []) ?? [undefined]
      for (const target of targets) await readBack(source, { since: from, ...(target && { target }) }, take)
      // After the clock was set back, records are not in the order of their times.
      for (const visits of Object.values(found)) visits.sort((a, b) => a.t - b.t)
      return found
    },
  }
}

/** Passes the matching records to `take`, newest first. */
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
