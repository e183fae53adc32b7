/** What the list of field devices and the site's file say of a point whose priority array was seen. */
import { formatTarget, parseTarget, PRESENT_VALUE } from '#shared/core/bacnet/object.ts'
import type { PointWords } from '#shared/core/priority/overrides.ts'
import { type PriorityRecord, priorityKey, type SlotValue } from '#shared/core/priority/record.ts'
import { valueWords } from '#shared/core/ui/raw-value.ts'
import type { Catalogue, DeviceEntry, PointEntry } from '../store/catalogue-schema.ts'
import type { Site } from '../store/site.ts'

type Known = { device: DeviceEntry; point: PointEntry }

/** @returns what words a record's point has; one that has left the list keeps the name that the record bears */
export function wordsFor(catalogue: Catalogue, site: Site): (record: PriorityRecord) => PointWords {
  const known = knownPoints(catalogue)
  const equipment = new Map(site.equipment.map(one => [one.equipment_id, one.name]))
  return ({ target, label }) => {
    const found = known.get(priorityKey(target))
    if (!found) {
      const name = label ?? `${target.object_type},${target.object_instance}`
      return {
        name,
        device: `device ${target.device_instance}, not on the list`,
        valueWords: value => valueWords(value, undefined),
      }
    }
    const { device, point } = found
    const at = point.equipment_id
    return {
      point_id: point.point_id,
      name: point.name,
      ...(at !== undefined && { equipment: equipment.get(at) ?? at }),
      device: device.name,
      valueWords: (value: SlotValue) => valueWords(value, point),
    }
  }
}

/** Points that read a present value, by the object that they read. */
function knownPoints({ devices }: Catalogue): Map<string, Known> {
  const known = new Map<string, Known>()
  for (const device of devices) {
    if (!device.bacnet) continue
    for (const point of device.points) {
      const target = parseTarget(point.address)
      if (typeof target === 'string') continue
      const object = formatTarget({ type: target.type, instance: target.instance, property: PRESENT_VALUE })
      const key = `${device.bacnet.device_instance}/${object}`
      if (!known.has(key)) known.set(key, { device, point })
    }
  }
  return known
}
