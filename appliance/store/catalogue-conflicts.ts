import type { ConflictCandidate, DeviceConflict, DriverDefinition } from '../core/catalogue/driver-definition.ts'
import { DRIVERS, sectionOf } from '../drivers/list.ts'
import type { Catalogue } from './catalogue-schema.ts'

/**
 * Finds enabled devices that must not be read beside each other, as each driver sees it. They are shown as in conflict; the other
 * devices are polled.
 *
 * @returns by `device_id`; devices without a conflict are absent
 */
export function findDeviceConflicts({ devices }: Pick<Catalogue, 'devices'>): Map<string, DeviceConflict> {
  return new Map(
    DRIVERS.flatMap((driver: DriverDefinition) => [...(driver.findConflicts?.(candidatesOf(driver, devices)) ?? [])]),
  )
}

function candidatesOf(driver: DriverDefinition, devices: Catalogue['devices']): ConflictCandidate<unknown>[] {
  return devices.flatMap(entry => {
    const section = sectionOf(entry, driver)
    return entry.enabled && entry.protocol === driver.name && section !== undefined
      ? [{ device_id: entry.device_id, section }]
      : []
  })
}
