/** Names and values of visited points, from the list of field devices and the site file. */
import { targetName } from '#shared/core/bacnet/object-name.ts'
import type { PointWords } from '#shared/core/priority/override-rows.ts'
import { type PriorityRecord, priorityKey, type SlotValue } from '#shared/core/priority/priority-record.ts'
import { deviceValueText } from '#shared/central/ui/measure-text.ts'
import { pointsByObject } from '../priority/journal-snapshots.ts'
import type { DeviceCatalogue } from '../store/catalogue-schema.ts'
import type { SiteSettings } from '../store/site.ts'
import { say } from '#shared/node/http/language.ts'

/** @returns the words for the point of a record; a point that left the list has the name in the record */
export function listedPointWords(catalogue: DeviceCatalogue, site: SiteSettings): (record: PriorityRecord) => PointWords {
  const known = pointsByObject(catalogue)
  const equipment = new Map(site.equipment.map(one => [one.equipment_id, one.name]))
  return ({ target, label }) => {
    const found = known.get(priorityKey(target))
    if (!found) {
      const name = label ?? targetName(target)
      return {
        name,
        device: say`device ${target.device_instance}, not on the list`,
        valueWords: value => deviceValueText(value, undefined),
      }
    }
    const { device, point } = found
    const at = point.equipment_id
    return {
      point_id: point.point_id,
      name: point.name,
      ...(at !== undefined && { equipment_id: at, equipment: equipment.get(at) ?? at }),
      device: device.name,
      valueWords: (value: SlotValue) => deviceValueText(value, point),
    }
  }
}
