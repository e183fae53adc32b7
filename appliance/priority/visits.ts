/** What the journal knows of the points on the list of field devices, for rules and plots: in each point's own unit. */
import { setImmediate } from 'node:timers/promises'
import { formatTarget, parseTarget, PRESENT_VALUE } from '#shared/core/bacnet/object.ts'
import type { PriorityJournal, PriorityVisits } from '#shared/core/ports.ts'
import { levelMeanings } from '#shared/core/priority/levels.ts'
import { priorityKey } from '#shared/core/priority/record.ts'
import { type Visit, visitOf } from '#shared/core/priority/visits.ts'
import type { Catalogue, DeviceEntry, PointEntry } from '../store/catalogue-schema.ts'
import type { Site } from '../store/site.ts'

/** Records that are read in one go; polling has its turn in between. */
const CHUNK = 500

export type CommandablePoint = { device: DeviceEntry; point: PointEntry }

/** Points that read a present value, by the object that they read; of two on one object the first. */
export function pointsByObject({ devices }: Catalogue): Map<string, CommandablePoint> {
  const found = new Map<string, CommandablePoint>()
  for (const device of devices) {
    if (!device.bacnet) continue
    for (const point of device.points) {
      const target = parseTarget(point.address)
      if (typeof target === 'string' || target.property !== PRESENT_VALUE) continue
      const key = `${device.bacnet.device_instance}/${formatTarget({ type: target.type, instance: target.instance, property: PRESENT_VALUE })}`
      if (!found.has(key)) found.set(key, { device, point })
    }
  }
  return found
}

export type VisitsOptions = {
  journal: () => Pick<PriorityJournal, 'page' | 'state'>
  catalogue: () => Catalogue
  site: Pick<Site, 'building' | 'priority_levels'>
}

/** A journal that is shut knows nothing; the rules then say what they lack. */
export function priorityVisits({ journal, catalogue, site }: VisitsOptions): PriorityVisits {
  const { building, priority_levels } = site
  const meanings = levelMeanings(priority_levels)
  return {
    async visits(building_id, { from, to }) {
      const kept = journal()
      if (building_id !== building.building_id || kept.state().journal === 'disabled') return {}
      const points = pointsByObject(catalogue())
      const found: Record<string, Visit[]> = {}
      for (let before: number | undefined, more = true; more; ) {
        const page = kept.page({ since: from, limit: CHUNK, ...(before !== undefined && { before }) })
        for (const record of page.records) {
          const point = points.get(priorityKey(record.target))?.point
          if (!point || record.observed_at >= to) continue
          const { point_id, scale = 1, offset = 0 } = point
          const visits = (found[point_id] ??= [])
          visits.push(visitOf(record, { scale, offset }, meanings, building.timezone))
        }
        before = page.records.at(-1)?.seq
        more = page.more && before !== undefined
        await setImmediate()
      }
      // A clock that was set back must not put a later visit before an earlier one.
      for (const visits of Object.values(found)) visits.sort((a, b) => a.t - b.t)
      return found
    },
  }
}
