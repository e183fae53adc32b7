/** The drivers of the appliance. Each one is a folder beside this file and one line in the list. */
import type { Static, TSchema } from '@sinclair/typebox'
import type { ConflictCandidate, DeviceConflict, DriverDefinition } from '../core/catalogue/driver-definition.ts'
import { bacnetDefinition } from './bacnet/core/definition.ts'
import { haystackDefinition } from './haystack/core/definition.ts'
import { modbusDefinition } from './modbus/core/definition.ts'

/** In the order in which pages and schemas name them. */
export const DRIVERS = [bacnetDefinition, modbusDefinition, haystackDefinition] as const satisfies readonly DriverDefinition[]

type DriverName = (typeof DRIVERS)[number]['name']

/** @returns the definition of the driver of a checked entry */
export const driverOf = ({ protocol }: { protocol: DriverName }): DriverDefinition =>
  DRIVERS.find(({ name }) => name === protocol)!

/** @returns the section of a driver in an entry; undefined when the entry has none, which the catalogue refuses */
export const sectionOf = <S extends TSchema>(entry: object, { name }: DriverDefinition<string, S>): Static<S> =>
  (entry as Record<string, unknown>)[name]

/** @returns one line that says where a device is; null when its entry does not say */
export function formatLocation(entry: { protocol: DriverName }): string | null {
  const driver = driverOf(entry)
  const section = sectionOf(entry, driver)
  return section === undefined ? null : driver.formatLocation(section)
}

type Entry = { device_id: string; enabled: boolean; protocol: DriverName }

/**
 * Finds enabled devices that must not be read beside each other, by the rules of each driver. Pages show them as in conflict; the
 * other devices are polled.
 *
 * @returns by `device_id`; devices without a conflict are absent
 */
export function findDeviceConflicts({ devices }: { devices: readonly Entry[] }): Map<string, DeviceConflict> {
  return new Map(
    DRIVERS.flatMap((driver: DriverDefinition) => [...(driver.findConflicts?.(candidatesOf(driver, devices)) ?? [])]),
  )
}

function candidatesOf(driver: DriverDefinition, devices: readonly Entry[]): ConflictCandidate<unknown>[] {
  return devices.flatMap(entry => {
    const section = sectionOf(entry, driver)
    return entry.enabled && entry.protocol === driver.name && section !== undefined
      ? [{ device_id: entry.device_id, section }]
      : []
  })
}
