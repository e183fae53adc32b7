/** Compares the devices of a discovery with the catalogue. It changes nothing. */
import {
  addressKey,
  BACNET_PORT,
  type DeviceAddress,
  deviceKey,
  type DeviceResult,
  type Discovery,
  type DiscoveryRequest,
} from './discovery.ts'
import { findDuplicateInstances } from './heard-devices.ts'
import { parseTarget, PRESENT_VALUE } from '#shared/core/bacnet/object.ts'

/** The fields of a catalogue entry that the comparison uses. */
export type KnownDevice = {
  device_id: string
  enabled: boolean
  bacnet?: { device_instance: number; host: string; port?: number; network?: number; mac?: string }
  points: readonly { point_id: string; address: string }[]
}

/**
 * `moved`: the instance answers from another address. `id_changed`: another instance answers from the address.
 * `id_conflict`: one instance answers from more than one address. `missing`: called, and did not answer.
 */
export const CHANGES = ['new', 'missing', 'moved', 'id_changed', 'id_conflict', 'same'] as const
type Change = (typeof CHANGES)[number]

export type DeviceChange = {
  change: Change
  device_instance: number
  /** The device as found; null when it is missing. */
  key: string | null
  /** The matching entry of the catalogue; null when the device is new. */
  device_id: string | null
  /** Address and instance in the catalogue. */
  before: (DeviceAddress & { device_instance: number }) | null
  /** The other addresses of a conflict. */
  others: DeviceAddress[]
  /** Objects that the catalogue does not read, and points of the catalogue whose object the device does not list. */
  new_objects: number
  missing_points: string[]
}

/** @returns the addresses that were called by themselves and from which nothing was heard; none while it runs */
export function silentAddresses({ state, request, devices, ignored }: Discovery): DiscoveryRequest['addresses'] {
  if (state === 'running') return []
  const heard = [...devices, ...ignored]
  return request.addresses.filter(called => !heard.some(({ host, port }) => host === called.host && port === called.port))
}

/** @returns one change for each discovered device, and for each device that was called and is missing */
export function compareWithCatalogue(
  request: DiscoveryRequest,
  found: readonly DeviceResult[],
  catalogue: readonly KnownDevice[],
): DeviceChange[] {
  const known = catalogue.flatMap(entry => {
    const at = placeOf(entry)
    return at ? [{ entry, at }] : []
  })
  const byAddress = Map.groupBy(known, ({ at }) => addressKey(at))
  const byInstance = new Map(known.toReversed().map(one => [one.at.device_instance, one]))
  const heard = new Set(found.map(deviceKey))
  const answering = new Set(found.map(({ device_instance }) => device_instance))
  const doubled = findDuplicateInstances(found)
  const claimed = new Set<KnownDevice>()
  const changes = found.map(device => {
    const sameAddress = byAddress.get(addressKey(device)) ?? []
    const same = sameAddress.find(({ at }) => at.device_instance === device.device_instance)
    const elsewhere = byInstance.get(device.device_instance)
    // A device that answers from another address has moved, so its entry is not replaced.
    const replaced = sameAddress.find(({ at }) => !heard.has(deviceKey(at)) && !answering.has(at.device_instance))
    const match = same ?? elsewhere ?? replaced
    if (match) claimed.add(match.entry)
    const places = doubled.get(device.device_instance)
    const change: Change = places ? 'id_conflict' : same ? 'same' : elsewhere ? 'moved' : replaced ? 'id_changed' : 'new'
    return {
      change,
      device_instance: device.device_instance,
      key: device.key,
      device_id: match?.entry.device_id ?? null,
      before: match?.at ?? null,
      others: (places ?? []).filter(({ key }) => key !== device.key).map(addressOf),
      ...pointsOf(device, match?.entry),
    }
  })
  const missing = known.filter(({ entry, at }) => entry.enabled && !claimed.has(entry) && wasAsked(request, at))
  return [
    ...changes,
    ...missing.map(({ entry, at }) => ({
      change: 'missing' as const,
      device_instance: at.device_instance,
      key: null,
      device_id: entry.device_id,
      before: at,
      others: [],
      new_objects: 0,
      missing_points: [],
    })),
  ]
}

type Place = DeviceAddress & { device_instance: number }

function placeOf({ bacnet }: KnownDevice): Place | undefined {
  if (!bacnet) return undefined
  const { device_instance, host, port = BACNET_PORT, network, mac } = bacnet
  return { device_instance, host, port, ...(network !== undefined && mac !== undefined && { network, mac }) }
}

const addressOf = ({ host, port, network, mac }: DeviceAddress): DeviceAddress =>
  network === undefined || mac === undefined ? { host, port } : { host, port, network, mac }

/** @returns whether the Who-Is should have reached a device at this address */
function wasAsked({ low, high, network, addresses }: DiscoveryRequest, at: Place): boolean {
  if (at.device_instance < low || at.device_instance > high) return false
  if (addresses.length) return addresses.some(({ host, port }) => host === at.host && port === at.port)
  if (network === 'all') return true
  return network === 'local' ? at.network === undefined : at.network === network
}

/** Compares points with objects; points can be missing only when the whole object list is known. */
function pointsOf({ objects, outcome }: DeviceResult, entry: KnownDevice | undefined) {
  const keyOf = (type: number, instance: number) => `${type}:${instance}`
  const listed = new Set(objects.map(({ type, instance }) => keyOf(type, instance)))
  const read = new Set<string>()
  const missing_points: string[] = []
  for (const { point_id, address } of entry?.points ?? []) {
    const target = parseTarget(address)
    if (typeof target === 'string') continue
    const key = keyOf(target.type, target.instance)
    if (target.property === PRESENT_VALUE) read.add(key)
    if (outcome === 'found' && !listed.has(key)) missing_points.push(point_id)
  }
  return { new_objects: [...listed].filter(key => !read.has(key)).length, missing_points }
}
