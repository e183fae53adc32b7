import type { ConflictCandidate, DeviceConflict } from '../../../core/catalogue/driver-definition.ts'
import { BACNET_PORT } from './discovery/discovery.ts'

/** The part of a section that identifies a device. */
type DeviceIdentity = { device_instance: number; host: string; port?: number; network?: number; mac?: string }
type Candidate = ConflictCandidate<DeviceIdentity>

/**
 * Finds enabled devices that share an instance. Readings and priority history identify devices by `device_id`, so devices at
 * different addresses are all read. Of entries with one instance and one address only the first is read: they are one device.
 *
 * @returns by `device_id`; devices without a conflict are absent
 * @source ANSI/ASHRAE 135, 12.11: a device instance is unique in the internetwork, which in buildings it is not always
 */
export function findInstanceConflicts(devices: readonly Candidate[]): Map<string, DeviceConflict> {
  const conflicts = new Map<string, DeviceConflict>()
  for (const [instance, sharing] of Map.groupBy(devices, ({ section }) => section.device_instance)) {
    for (const device of sharing.length > 1 ? sharing : []) conflicts.set(device.device_id, conflictOf(instance, device, sharing))
  }
  return conflicts
}

function conflictOf(instance: number, device: Candidate, sharing: readonly Candidate[]): DeviceConflict {
  const key = locationKey(device)
  const [first, ...others] = sharing.filter(one => locationKey(one) === key)
  const isRead = first === device
  const named = (some: readonly Candidate[]) => some.map(({ device_id }) => device_id).join(', ')
  if (!isRead)
    return { isRead, reason: `has the device instance ${instance} and the address of ${first!.device_id}: it is not read` }
  if (others.length > 0)
    return { isRead, reason: `${named(others)} has the same device instance ${instance} and address, and is not read` }
  const elsewhere = named(sharing.filter(one => one !== device))
  return {
    isRead,
    reason: `device instance ${instance} is also that of ${elsewhere}, at another address; every device needs its own`,
  }
}

/** @returns a text that is equal for equal BACnet addresses */
function locationKey({ section: { host, port = BACNET_PORT, network, mac = '' } }: Candidate): string {
  return `${host}:${port} ${network ?? ''} ${mac.toLowerCase()}`
}
