/** Entries of the catalogue that claim one BACnet device instance. Each is shown as in conflict; the other devices go on. */
import { BACNET_PORT } from '../drivers/bacnet/core/discovery/discovery.ts'
import type { Catalogue, DeviceEntry } from './catalogue-schema.ts'

export type InstanceConflict = {
  /** For the technician, in words. */
  reason: string
  /** Whether the entry is read. Of entries with one instance and one address only the first is: they are one device. */
  isRead: boolean
}

/**
 * Finds enabled devices that share an instance. Readings and priority history tell devices apart by `device_id`, so devices at
 * different addresses are all read.
 *
 * @returns by `device_id`; devices without a conflict are absent
 * @source ANSI/ASHRAE 135, 12.11: a device instance is unique in the internetwork, which in buildings it is not always
 */
export function instanceConflicts({ devices }: Pick<Catalogue, 'devices'>): Map<string, InstanceConflict> {
  const enabled = devices.filter(({ enabled, bacnet, protocol }) => enabled && bacnet && protocol === 'bacnet')
  const conflicts = new Map<string, InstanceConflict>()
  for (const [instance, entries] of Map.groupBy(enabled, ({ bacnet }) => bacnet!.device_instance)) {
    for (const entry of entries.length > 1 ? entries : []) conflicts.set(entry.device_id, conflictOf(instance, entry, entries))
  }
  return conflicts
}

function conflictOf(instance: number, entry: DeviceEntry, entries: readonly DeviceEntry[]): InstanceConflict {
  const place = placeOf(entry)
  const [first, ...others] = entries.filter(one => placeOf(one) === place)
  const isRead = first === entry
  const named = (some: readonly DeviceEntry[]) => some.map(({ device_id }) => device_id).join(', ')
  if (!isRead)
    return { isRead, reason: `has the device instance ${instance} and the address of ${first!.device_id}: it is not read` }
  if (others.length > 0)
    return { isRead, reason: `${named(others)} has the same device instance ${instance} and address, and is not read` }
  const elsewhere = named(entries.filter(one => one !== entry))
  return {
    isRead,
    reason: `device instance ${instance} is also that of ${elsewhere}, at another address; every device needs its own`,
  }
}

/** Equal for equal BACnet addresses. */
function placeOf({ bacnet }: DeviceEntry): string {
  const { host, port = BACNET_PORT, network, mac = '' } = bacnet!
  return `${host}:${port} ${network ?? ''} ${mac.toLowerCase()}`
}
