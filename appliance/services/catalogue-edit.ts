/** Changes of the field catalogue, with errors that name the device. */
import { Problem } from '#shared/core/problem.ts'
import type { DeviceCatalogue, DeviceEntry } from '../store/catalogue-schema.ts'
import { formatLocation } from '../drivers/list.ts'
import { ConfigError } from '../store/json-file.ts'
import type { CatalogueEdit, FieldCatalogue } from './field-catalogue.ts'

/**
 * Changes the catalogue.
 *
 * @throws Problem invalid that names each place, or conflict when the file was changed on disk and cannot be used
 */
export async function changeCatalogue(catalogue: FieldCatalogue, edit: CatalogueEdit): Promise<DeviceCatalogue> {
  let next: DeviceCatalogue = { devices: [] }
  const keep: CatalogueEdit = async held => {
    const edited = await edit(held)
    next = edited ?? held
    return edited
  }
  return catalogue.change(keep).catch(error => refuse(error, next))
}

/** @throws Problem invalid that names each place */
export function checkCatalogue(catalogue: FieldCatalogue, next: DeviceCatalogue): void {
  try {
    catalogue.check(next)
  } catch (error) {
    refuse(error, next)
  }
}

/** Names the device by its id: users do not know its index in the file. */
function refuse(error: unknown, { devices }: DeviceCatalogue): never {
  if (!(error instanceof ConfigError)) throw error
  const { pointer = '', message = '' } = error.complaints[0] ?? {}
  const [, index, place = ''] = /^\/devices\/(\d+)(.*)$/.exec(pointer) ?? []
  const device = index === undefined ? undefined : devices[Number(index)]
  const where = device ? `device ${device.device_id}, ${place || 'as a whole'}` : pointer
  throw new Problem('invalid', `List not changed: ${[where, message].filter(Boolean).join(': ')}`, error.complaints)
}

/** @throws Problem unknown_device */
export function deviceOf({ devices }: DeviceCatalogue, device_id: string): DeviceEntry {
  const device = devices.find(one => one.device_id === device_id)
  if (!device) throw new Problem('unknown_device', `There is no device ${device_id}`)
  return device
}

/** @returns the catalogue with this entry in place of the one with its id, or appended */
export const withDevice = ({ devices }: DeviceCatalogue, device: DeviceEntry): DeviceCatalogue => {
  const isKnown = devices.some(({ device_id }) => device_id === device.device_id)
  return { devices: isKnown ? devices.map(one => (one.device_id === device.device_id ? device : one)) : [...devices, device] }
}

/** @throws Problem unknown_device */
export function withoutDevice(held: DeviceCatalogue, device_id: string): DeviceCatalogue {
  const gone = deviceOf(held, device_id)
  return { devices: held.devices.filter(one => one !== gone) }
}

/** The fields of an entry that the audit records. */
export const entrySummary = (device: DeviceEntry | undefined) =>
  device && {
    name: device.name,
    enabled: device.enabled,
    protocol: device.protocol,
    where: formatLocation(device),
    points: device.points.length,
  }
