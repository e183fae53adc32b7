/** `config/field-devices.json`: the trusted list of what may be read. Only an operator or a script changes it. */
import { join } from 'node:path'
import { nearestRoles, ROLES } from '#shared/core/model/role.ts'
import { conversion, unitCode, UNITS } from '#shared/core/model/unit.ts'
import type { DriverDefinition } from '../core/catalogue/driver-definition.ts'
import { DRIVERS } from '../drivers/list.ts'
import type { FieldProtocol } from '../drivers/protocol.ts'
import { type DeviceCatalogue, CatalogueFile, catalogueSchema, type DeviceEntry, type PointEntry } from './catalogue-schema.ts'
import type { Complaint } from './json-file.ts'
import { openSettingsFile, type SettingsFile } from './settings-file.ts'
import type { SiteSettings } from './site.ts'

/**
 * Opens `field-devices.json` in the folder `dir`; a missing file is an empty catalogue.
 *
 * @param site names the equipment that points may belong to
 * @param protocols those that this process runs; they check the addresses of their devices. An entry of another driver is checked
 *   by its schema and by the features of that driver
 * @param drivers the protocols that an entry may have
 * @throws ConfigError when the file is unreadable or wrong; it names every place
 */
export function openCatalogue(
  dir: string,
  site: SiteSettings,
  protocols: readonly FieldProtocol[],
  drivers: readonly DriverDefinition[] = DRIVERS,
): Promise<SettingsFile<DeviceCatalogue>> {
  const schema = drivers === DRIVERS ? CatalogueFile : (catalogueSchema(drivers) as unknown as typeof CatalogueFile)
  const check = (catalogue: DeviceCatalogue) => checkCatalogue(catalogue, site, { protocols, drivers })
  return openSettingsFile(join(dir, 'field-devices.json'), schema, check, { absent: { devices: [] } })
}

type Checkers = { protocols: readonly FieldProtocol[]; drivers: readonly DriverDefinition[] }

function checkCatalogue({ devices }: DeviceCatalogue, site: SiteSettings, checkers: Checkers): Complaint[] {
  const equipment = new Set(site.equipment.map(({ equipment_id }) => equipment_id))
  const points = devices.flatMap((device, i) =>
    device.points.map((point, k) => ({ point, pointer: `/devices/${i}/points/${k}` })),
  )
  return [
    ...repeated(devices.map(({ device_id }, i) => ({ id: device_id, pointer: `/devices/${i}/device_id` }))),
    ...repeated(points.map(({ point, pointer }) => ({ id: point.point_id, pointer: `${pointer}/point_id` }))),
    ...devices.flatMap((device, i) => checkDevice(device, devices, checkers).map(one => below(`/devices/${i}`, one))),
    ...points.flatMap(({ point, pointer }) => checkPoint(point, equipment).map(one => below(pointer, one))),
  ]
}

const below = (parent: string, { pointer, message }: Complaint): Complaint => ({ pointer: parent + pointer, message })

function repeated(ids: { id: string; pointer: string }[]): Complaint[] {
  const first = new Map<string, string>()
  return ids.flatMap(({ id, pointer }) => {
    const before = first.get(id)
    if (before === undefined) first.set(id, pointer)
    return before === undefined ? [] : [{ pointer, message: `"${id}" stands already at ${before}` }]
  })
}

function checkDevice(device: DeviceEntry, all: readonly DeviceEntry[], { protocols, drivers }: Checkers): Complaint[] {
  const { protocol } = device
  if (!device[protocol]) return [{ pointer: `/${protocol}`, message: `a device with protocol ${protocol} needs this section` }]
  const driver = drivers.find(({ name }) => name === protocol)!
  const running = protocols.find(({ name }) => name === protocol)
  return [...checkFeatures(device, driver), ...(running?.check(device, all) ?? [])]
}

/** Every process checks this for every driver, also for one whose protocol it does not run. */
function checkFeatures({ protocol, points }: DeviceEntry, { features }: DriverDefinition): Complaint[] {
  return points.flatMap(({ cov, priority_history }, i) => [
    ...(cov && !features.changeNotification
      ? [{ pointer: `/points/${i}/cov`, message: `cov is for BACnet; a point of a ${protocol} device is polled` }]
      : []),
    ...(priority_history && !features.priorityArrays
      ? [{ pointer: `/points/${i}/priority_history`, message: `a ${protocol} device has no priority arrays, as BACnet has` }]
      : []),
  ])
}

function checkPoint({ unit, role, equipment_id, kind, scale, offset }: PointEntry, equipment: Set<string>): Complaint[] {
  const complaints: Complaint[] = []
  if (!UNITS[unit]) {
    const code = unitCode(unit)
    complaints.push({ pointer: '/unit', message: `"${unit}" is no unit code${code === undefined ? '' : `; write ${code}`}` })
  }
  if (role !== undefined) complaints.push(...checkRole(role, unit))
  if (equipment_id !== undefined && !equipment.has(equipment_id)) {
    complaints.push({ pointer: '/equipment_id', message: `"${equipment_id}" is no equipment of site.json` })
  }
  if (kind !== 'number' && (scale !== undefined || offset !== undefined)) {
    complaints.push({ pointer: scale === undefined ? '/offset' : '/scale', message: `a point of kind ${kind} is not scaled` })
  }
  return complaints
}

function checkRole(role: string, unit: string): Complaint[] {
  const known = ROLES[role]
  if (!known) return [{ pointer: '/role', message: `"${role}" is no role; near are ${nearestRoles(role).join(', ')}` }]
  if (!UNITS[unit] || conversion(unit, known.unit)) return []
  return [{ pointer: '/unit', message: `${unit} does not measure what ${role} is (${known.unit})` }]
}
