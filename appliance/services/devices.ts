/** What an operator does with the list of field devices: change entries, import lists of points, take them elsewhere. */
import { type EdeFiles, type Ede, readEde } from '../core/catalogue/ede.ts'
import { readBacnetRegistry, readModbusRegistry, type Registry } from '../core/catalogue/registry.ts'
import type { Refusal, Table } from '../core/catalogue/table.ts'
import { type EdeSource, writeEde } from '../core/catalogue/write-ede.ts'
import { writePoints } from '../core/catalogue/write-points.ts'
import type { DeviceAddress } from '../drivers/bacnet/core/discovery/discovery.ts'
import { Problem } from '#shared/core/problem.ts'
import type { Catalogue, DeviceEntry } from '../store/catalogue-schema.ts'
import { type ImportPlan, planEde, planRegistry, whereOf } from '../store/catalogue-import.ts'
import { ConfigError } from '../store/config-error.ts'
import type { CatalogueEdit, FieldCatalogue } from './field-catalogue.ts'
import { inSlices } from './in-slices.ts'

export const FORMATS = ['ede', 'volttron-bacnet', 'volttron-modbus'] as const
export type Format = (typeof FORMATS)[number]

/** A file of points as it was read, and what else has to be said before its points can be polled. */
export type ImportSource =
  | { format: 'ede'; ede: Ede; poll_secs: number }
  | { format: 'volttron-bacnet' | 'volttron-modbus'; registry: Registry; device: DeviceEntry; poll_secs: number }

/** By device instance. */
export type Addresses = ReadonlyMap<number, DeviceAddress>

/** @throws Problem invalid when a file of the set is missing or doubled */
export function sortEdeFiles(tables: readonly Table[]): EdeFiles {
  const kinds: [keyof EdeFiles, RegExp][] = [
    ['stateTexts', /state[\s_-]*texts?/i],
    ['units', /units?(?=[^a-z]|$)|unit[\s_-]*texts?/i],
    ['objectTypes', /obj(ect)?[\s_-]*types?/i],
  ]
  const kindOf = ({ file }: Table) => kinds.find(([, pattern]) => pattern.test(file))?.[0] ?? 'main'
  const files = new Map<keyof EdeFiles, Table>()
  for (const table of tables) {
    const kind = kindOf(table)
    const other = files.get(kind)
    if (other)
      throw new Problem('invalid', `${table.file} and ${other.file} are the same part of an EDE set; import one set at a time`)
    files.set(kind, table)
  }
  const main = files.get('main')
  if (!main) throw new Problem('invalid', 'The table of the points is missing; the file whose name ends with _EDE.csv holds it')
  return { ...Object.fromEntries(files), main }
}

export const readEdeTables = (tables: readonly Table[]): Promise<Ede> => inSlices(readEde(sortEdeFiles(tables)))

/** @throws Problem invalid when there is not just one file */
export function readRegistryTables(format: 'volttron-bacnet' | 'volttron-modbus', tables: readonly Table[]): Registry {
  const [table, ...more] = tables
  if (!table || more.length) throw new Problem('invalid', `A registry is one file; there are ${tables.length}`)
  return format === 'volttron-bacnet' ? readBacnetRegistry(table) : readModbusRegistry(table)
}

/** @returns what the source would make of the catalogue */
export const planImport = async (catalogue: Catalogue, source: ImportSource, addresses: Addresses): Promise<ImportPlan> =>
  source.format === 'ede'
    ? inSlices(planEde(catalogue, source.ede, { addresses, poll_secs: source.poll_secs }))
    : planRegistry(catalogue, source.registry, source.device, source.poll_secs)

/** Rows that are not taken, and what could not be taken of rows that are. */
export function complaintsOf(source: ImportSource): { refused: Refusal[]; notes: Refusal[]; others: Record<string, number> } {
  if (source.format !== 'ede') return { ...source.registry, others: {} }
  return source.ede
}

/**
 * Changes the list.
 *
 * @throws Problem invalid that names each place, or conflict when the file was changed on disk and cannot be used
 */
export async function changeCatalogue(catalogue: FieldCatalogue, edit: CatalogueEdit): Promise<Catalogue> {
  let next: Catalogue = { devices: [] }
  const keep: CatalogueEdit = async held => {
    const edited = await edit(held)
    next = edited ?? held
    return edited
  }
  return catalogue.change(keep).catch(error => refuse(error, next))
}

/** @throws Problem invalid that names each place */
export function checkCatalogue(catalogue: FieldCatalogue, next: Catalogue): void {
  try {
    catalogue.check(next)
  } catch (error) {
    refuse(error, next)
  }
}

/** Who looks at a page knows a device by its id, not by its number in the file. */
function refuse(error: unknown, { devices }: Catalogue): never {
  if (!(error instanceof ConfigError)) throw error
  const { pointer = '', message = '' } = error.complaints[0] ?? {}
  const [, index, place = ''] = /^\/devices\/(\d+)(.*)$/.exec(pointer) ?? []
  const device = index === undefined ? undefined : devices[Number(index)]
  const where = device ? `device ${device.device_id}, ${place || 'as a whole'}` : pointer
  throw new Problem('invalid', `The list stays as it is: ${[where, message].filter(Boolean).join(': ')}`, error.complaints)
}

/** @throws Problem unknown_device */
export function deviceOf({ devices }: Catalogue, device_id: string): DeviceEntry {
  const device = devices.find(one => one.device_id === device_id)
  if (!device) throw new Problem('unknown_device', `There is no device ${device_id}`)
  return device
}

/** Puts an entry in the place of the one with its id, or behind all others. */
export const withDevice = ({ devices }: Catalogue, device: DeviceEntry): Catalogue => {
  const isKnown = devices.some(({ device_id }) => device_id === device.device_id)
  return { devices: isKnown ? devices.map(one => (one.device_id === device.device_id ? device : one)) : [...devices, device] }
}

/** @throws Problem unknown_device */
export function withoutDevice(held: Catalogue, device_id: string): Catalogue {
  const gone = deviceOf(held, device_id)
  return { devices: held.devices.filter(one => one !== gone) }
}

/** What the audit keeps of an entry. */
export const entrySummary = (device: DeviceEntry | undefined) =>
  device && {
    name: device.name,
    enabled: device.enabled,
    protocol: device.protocol,
    where: whereOf(device),
    points: device.points.length,
  }

/** @returns the EDE set of the BACnet devices; files by their names */
export function exportEde({ devices }: Catalogue, project: { name: string; version: string; at: string }) {
  const bacnet = devices.filter((device): device is DeviceEntry & EdeSource => device.bacnet !== undefined)
  return writeEde(bacnet, project)
}

/** @returns all points as CSV, one line each */
export const exportPoints = ({ devices }: Catalogue): string =>
  writePoints(devices.flatMap(device => device.points.map(point => ({ device, where: whereOf(device) ?? '', point }))))
