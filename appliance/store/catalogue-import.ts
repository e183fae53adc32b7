/** What an import would make of the catalogue: nothing that is there is changed, devices and points are added. */
import { formatAddress, parseAddress } from '../drivers/bacnet/core/address.ts'
import { driverOf, formatLocation } from '../drivers/list.ts'
import type { Ede, EdeDevice } from '../drivers/bacnet/core/ede/read-ede.ts'
import type { Registry } from '../core/catalogue/registry.ts'
import { AUTHOR } from '../drivers/bacnet/core/ede/write-ede.ts'
import { deviceIds, propose, type Proposal, pointIds, type Told } from '../drivers/bacnet/core/discovery/propose.ts'
import { BACNET_PORT, type DeviceAddress } from '../drivers/bacnet/core/discovery/discovery.ts'
import { isId } from '#shared/core/model/model.ts'
import type { Catalogue, DeviceEntry, PointEntry } from './catalogue-schema.ts'

/** What becomes of one device of the file. `no_address`: it is left out, because nobody has said where it is. */
export type PlannedDevice = {
  device_id: string
  name: string
  device_instance?: number
  state: 'new' | 'known' | 'no_address'
  /** Where it is, in words; null when nobody has said. */
  where: string | null
  /** Points that are added, or would be. */
  points: PointEntry[]
  /** Points that the catalogue has already; they stay as they are. */
  points_known: number
}
export type ImportPlan = {
  catalogue: Catalogue
  devices: PlannedDevice[]
  /** Properties of accepted points that are ignored. */
  notes: string[]
}

/** A device that is not asked yet takes at least this, as the catalogue has it for those that do not say. */
const MAX_APDU = 480

/**
 * Yields after each device.
 *
 * @param addresses by device instance, where the file does not say; they count before what it says
 */
export function* planEde(
  catalogue: Catalogue,
  ede: Ede,
  { addresses, poll_secs }: { addresses: ReadonlyMap<number, DeviceAddress>; poll_secs: number },
): Generator<undefined, ImportPlan> {
  const known = new Map(catalogue.devices.flatMap(device => (device.bacnet ? [[device.bacnet.device_instance, device]] : [])))
  const told = ede.devices.map(device => ({ device, told: toldOf(device, addresses.get(device.device_instance)) }))
  const fresh = told.filter(({ device }) => !known.has(device.device_instance)).map(one => one.told)
  const taken = new Set(catalogue.devices.map(({ device_id }) => device_id))
  const ids = new Map(deviceIds(fresh, fresh, taken).map(one => [one.told.key, one.device_id]))
  const plan = openPlan(catalogue)
  for (const { device, told: one } of told) {
    yield
    const before = known.get(device.device_instance)
    const proposal = propose(one, before?.device_id ?? ids.get(one.key)!, poll_secs)
    const named = ede.author === AUTHOR ? withKeys(proposal, device, taken, before) : proposal
    const { entry, notes } = withOwnWords(named, device)
    plan.notes.push(...notes)
    plan.add(entry, before, one.host === '' ? null : formatAddress(one))
  }
  return plan.end()
}

function toldOf({ device_instance, name, address, objects }: EdeDevice, given: DeviceAddress | undefined): Told {
  const where = given ?? parseAddress(address) ?? { host: '', port: BACNET_PORT }
  return { key: String(device_instance), device_instance, ...where, max_apdu: MAX_APDU, multiple: null, name, objects }
}

/** Our own files carry the ids, and say by "supports COV" which points tell changes here; others say what a device could do. */
function withKeys(proposal: Proposal, { keyname, objects }: EdeDevice, taken: Set<string>, before: DeviceEntry | undefined) {
  const { device } = proposal
  const device_id = !before && isId(keyname) && !taken.has(keyname) ? keyname : device.device_id
  taken.add(device_id)
  const points = device.points.map((point, i): PointEntry => {
    const { keyname: key, cov } = objects[i]!
    return { ...point, ...(isId(key) && { point_id: key }), ...(cov && { cov }) }
  })
  return { ...proposal, device: { ...device, device_id, points } }
}

/** A vendor's unit has no number of the standard; the file with the units has said what it is. A table may say how often to read, too. */
function withOwnWords({ device, notes }: Proposal, { objects }: EdeDevice): { entry: DeviceEntry; notes: string[] } {
  const { max_apdu: _, ...bacnet } = device.bacnet
  const points = device.points.map((point, i) => {
    const { unit, poll_secs } = objects[i]!
    return {
      ...point,
      ...(unit !== undefined && point.kind === 'number' && { unit }),
      ...(poll_secs !== undefined && { poll_secs }),
    }
  })
  const named = new Set(objects.flatMap(({ unit }, i) => (unit === undefined ? [] : [device.points[i]!.point_id])))
  return {
    entry: { ...device, bacnet, points },
    notes: notes.filter(note => !named.has(note.slice(0, note.indexOf(':')))),
  }
}

/** @param device the registry's device: an entry of the catalogue, or a new one; its points are not looked at */
export function planRegistry(catalogue: Catalogue, { points }: Registry, device: DeviceEntry, poll_secs: number): ImportPlan {
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
  const plan = openPlan(catalogue)
  plan.add({ ...device, points: entries }, before, formatLocation(before ?? device))
  return plan.end()
}

/** @returns a text that is equal for addresses of one point, however they are written */
function addressKey(entry: DeviceEntry, address: string): string {
  return driverOf(entry).addressKey?.(address) ?? address
}

function openPlan(catalogue: Catalogue) {
  const added = new Map<string, PointEntry[]>()
  const fresh: DeviceEntry[] = []
  const devices: PlannedDevice[] = []
  const notes: string[] = []
  const takenPoints = new Set(catalogue.devices.flatMap(({ points }) => points.map(({ point_id }) => point_id)))

  const freshId = (wanted: string): string => {
    let id = wanted
    for (let n = 2; takenPoints.has(id); n++) id = `${wanted}-${n}`
    takenPoints.add(id)
    return id
  }
  const add = (entry: DeviceEntry, before: DeviceEntry | undefined, where: string | null) => {
    const known = before ?? entry
    const { device_id, bacnet } = known
    const there = new Set(before?.points.map(({ address }) => addressKey(known, address)))
    const points = before ? entry.points.filter(({ address }) => !there.has(addressKey(known, address))) : entry.points
    const state = before ? 'known' : where === null ? 'no_address' : 'new'
    const named = state === 'no_address' ? points : points.map(point => ({ ...point, point_id: freshId(point.point_id) }))
    if (before) added.set(device_id, named)
    else if (state === 'new') fresh.push({ ...entry, points: named })
    devices.push({
      device_id,
      name: known.name,
      ...(bacnet && { device_instance: bacnet.device_instance }),
      state,
      where: before ? formatLocation(before) : where,
      points: named,
      points_known: entry.points.length - points.length,
    })
  }
  const end = (): ImportPlan => {
    const kept = catalogue.devices.map(device => {
      const more = added.get(device.device_id)
      return more?.length ? { ...device, points: [...device.points, ...more] } : device
    })
    return { catalogue: { devices: [...kept, ...fresh] }, devices, notes }
  }
  return { add, notes, end }
}
