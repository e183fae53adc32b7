/** Plans an import into the catalogue: devices and points are added, existing ones are not changed. */
import { driverOf, formatLocation } from '../drivers/list.ts'
import type { PointSet, PointSetFormat } from '../core/catalogue/driver-definition.ts'
import { pointIds } from '../core/catalogue/point-ids.ts'
import type { Registry } from '../core/catalogue/registry.ts'
import type { DeviceCatalogue, DeviceEntry, PointEntry } from './catalogue-schema.ts'

/** The result for one device of the import. `no_address`: it is not added, because its address is unknown. */
export type PlannedDevice = {
  device_id: string
  name: string
  device_instance?: number
  state: 'new' | 'known' | 'no_address'
  /** Its address as text; null when it is unknown. */
  where: string | null
  /** Points to add. */
  points: PointEntry[]
  /** Number of points that the catalogue already has; they are not changed. */
  points_known: number
}
export type ImportPlan = {
  catalogue: DeviceCatalogue
  devices: PlannedDevice[]
  /** Properties of accepted points that are ignored. */
  notes: string[]
}

/**
 * Yields before each device.
 *
 * @param addresses of devices, by the number that the format uses; they take precedence over those in the set
 */
export function* planPointSet(
  catalogue: DeviceCatalogue,
  format: PointSetFormat,
  set: PointSet,
  settings: { addresses: ReadonlyMap<number, unknown>; poll_secs: number },
): Generator<undefined, ImportPlan> {
  const plan = new ImportPlanner(catalogue)
  for (const { entry, known, where, notes } of format.propose(set, catalogue.devices, settings)) {
    yield
    plan.notes.push(...notes)
    const before = catalogue.devices.find(({ device_id }) => device_id === known)
    plan.add(entry as DeviceEntry, before, where)
  }
  return plan.end()
}

/** @param device of the registry: an entry of the catalogue, or a new one; its points are ignored */
export function planRegistry(
  catalogue: DeviceCatalogue,
  { points }: Registry,
  device: DeviceEntry,
  poll_secs: number,
): ImportPlan {
  const ids = pointIds(device.device_id, points)
  const entries = points.map(({ name, address, kind, unit, scale, offset, cov }, i) => ({
    point_id: ids[i]!,
    address,
    name,
    unit,
    kind,
    poll_secs,
    ...(scale !== undefined && { scale }),
    ...(offset !== undefined && { offset }),
    ...(cov !== undefined && { cov }),
  }))
  const before = catalogue.devices.find(({ device_id }) => device_id === device.device_id)
  const plan = new ImportPlanner(catalogue)
  plan.add({ ...device, points: entries }, before, formatLocation(before ?? device))
  return plan.end()
}

/** @returns a text that is equal for addresses of one point, however they are written */
function addressKey(entry: DeviceEntry, address: string): string {
  return driverOf(entry).addressKey?.(address) ?? address
}

class ImportPlanner {
  readonly notes: string[] = []
  readonly #catalogue: DeviceCatalogue
  /** Points to add to devices of the catalogue, by device id. */
  readonly #added = new Map<string, PointEntry[]>()
  readonly #newDevices: DeviceEntry[] = []
  readonly #devices: PlannedDevice[] = []
  readonly #takenIds: Set<string>

  constructor(catalogue: DeviceCatalogue) {
    this.#catalogue = catalogue
    this.#takenIds = new Set(catalogue.devices.flatMap(({ points }) => points.map(({ point_id }) => point_id)))
  }

  /** @param before the device in the catalogue @param where its address as text; null when it is unknown */
  add(entry: DeviceEntry, before: DeviceEntry | undefined, where: string | null): void {
    const device = before ?? entry
    const { device_id, bacnet } = device
    const known = new Set(before?.points.map(({ address }) => addressKey(device, address)))
    const fresh = before ? entry.points.filter(({ address }) => !known.has(addressKey(device, address))) : entry.points
    const state = before ? 'known' : where === null ? 'no_address' : 'new'
    const points = state === 'no_address' ? fresh : fresh.map(point => ({ ...point, point_id: this.#freeId(point.point_id) }))
    if (before) this.#added.set(device_id, points)
    else if (state === 'new') this.#newDevices.push({ ...entry, points })
    this.#devices.push({
      device_id,
      name: device.name,
      ...(bacnet && { device_instance: bacnet.device_instance }),
      state,
      where: before ? formatLocation(before) : where,
      points,
      points_known: entry.points.length - fresh.length,
    })
  }

  end(): ImportPlan {
    const existing = this.#catalogue.devices.map(device => {
      const more = this.#added.get(device.device_id)
      return more?.length ? { ...device, points: [...device.points, ...more] } : device
    })
    return { catalogue: { devices: [...existing, ...this.#newDevices] }, devices: this.#devices, notes: this.notes }
  }

  #freeId(wanted: string): string {
    let id = wanted
    for (let n = 2; this.#takenIds.has(id); n++) id = `${wanted}-${n}`
    this.#takenIds.add(id)
    return id
  }
}
