/** Adds the devices of received I-Ams to a discovery, and records why others are ignored. */
import {
  addressKey,
  type DeviceAddress,
  deviceKey,
  type DeviceResult,
  type Discovery,
  type DiscoveryRequest,
  IGNORED_MAX,
  type IgnoredWhy,
} from './discovery.ts'
import { formatAddress } from '../address.ts'
import type { UnconfirmedRequest } from '../frame.ts'
import { type IAm, readIAm } from '../i-am.ts'

/** Maximum number of devices in one discovery: the limit of the catalogue. */
const DEVICES_MAX = 2000

/** Longest address on any network that BACnet runs on, bytes: LonTalk's (135-2020 6.2.2). */
const MAC_MAX = 7

/** @returns the device when it is new; undefined when the message was ignored or repeated, which the discovery records */
export function noteIAm(discovery: Discovery, message: UnconfirmedRequest): DeviceResult | undefined {
  discovery.i_ams.heard++
  const address = addressOf(message)
  const said = readIAm(message.payload)
  if (typeof said === 'string') return ignore(discovery, address, null, 'malformed', said)
  const bytes = message.station?.mac.length ?? 0
  if (bytes > MAC_MAX) return ignore(discovery, address, null, 'malformed', `its address behind the router has ${bytes} bytes`)
  const reason = outside(discovery.request, address, said)
  if (reason !== undefined) return ignore(discovery, address, said.device_instance, 'outside', reason)
  const key = deviceKey({ ...address, ...said })
  if (discovery.devices.some(device => device.key === key)) {
    discovery.i_ams.repeated++
    return undefined
  }
  const twin = discovery.devices.find(one => one.device_instance === said.device_instance && placeOf(one) === placeOf(address))
  if (twin)
    return ignore(
      discovery,
      address,
      said.device_instance,
      'second_way',
      `it is the device at ${formatAddress(twin)}, heard on a second way`,
    )
  if (discovery.devices.length === DEVICES_MAX) {
    return ignore(
      discovery,
      address,
      said.device_instance,
      'too_many',
      `there are more than ${DEVICES_MAX}; ask with narrower bounds`,
    )
  }
  discovery.i_ams.taken++
  const device: DeviceResult = { key, ...address, ...said, ...UNREAD, objects: [], others: {} }
  discovery.devices.push(device)
  return device
}

const UNREAD = {
  outcome: 'waiting',
  reason: null,
  name: null,
  vendor: null,
  model: null,
  multiple: null,
  batch_size: null,
  listed: null,
  requests: 0,
} as const

const addressOf = ({ host, port, station }: UnconfirmedRequest): DeviceAddress =>
  station ? { host, port, network: station.network, mac: Buffer.from(station.mac).toString('hex') } : { host, port }

/** Bytes of a BACnet/IP address as a router passes it on: IPv4 and port (135-2020 J.1.2). */
const IP_MAC = /^[0-9a-f]{12}$/

/** @returns the address on the IP network, also when a router between two IP networks forwarded the message */
function placeOf(address: DeviceAddress): string {
  const { network, mac } = address
  if (network === undefined || mac === undefined || !IP_MAC.test(mac)) return addressKey(address)
  const bytes = Buffer.from(mac, 'hex')
  return addressKey({ host: bytes.subarray(0, 4).join('.'), port: bytes.readUInt16BE(4) })
}

/** @returns why a device is beyond what was asked for; devices also answer calls of others */
function outside({ low, high, network, addresses }: DiscoveryRequest, from: DeviceAddress, said: IAm): string | undefined {
  const { device_instance } = said
  if (device_instance < low || device_instance > high) return `its instance is not in ${low} to ${high}`
  if (network === 'local' && from.network !== undefined) return `it is on network ${from.network}, behind a router`
  if (typeof network === 'number' && from.network !== network) return `it is not on network ${network}`
  // Routers and managers answer from other ports.
  if (addresses.length && !addresses.some(({ host }) => host === from.host)) return 'its address was not asked'
  return undefined
}

function ignore(
  { ignored }: Discovery,
  { host, port }: DeviceAddress,
  device_instance: number | null,
  why: IgnoredWhy,
  reason: string,
): undefined {
  const before = ignored.find(
    one => one.host === host && one.port === port && one.device_instance === device_instance && one.reason === reason,
  )
  if (before) before.count++
  else if (ignored.length < IGNORED_MAX) ignored.push({ host, port, device_instance, why, reason, count: 1 })
  return undefined
}

/** @returns for each instance that answers from more than one place, those places */
export function findDuplicateInstances(devices: readonly DeviceResult[]): Map<number, DeviceResult[]> {
  const byInstance = Map.groupBy(devices, ({ device_instance }) => device_instance)
  return new Map([...byInstance].filter(([, some]) => new Set(some.map(addressKey)).size > 1))
}

/** @returns for example `I-Am of device 7 at 10.0.0.7, vendor 999, APDU 480, segmentation none` */
export const formatIAm = (device: DeviceResult): string =>
  `I-Am of device ${device.device_instance} at ${formatAddress(device)}, vendor ${device.vendor_id}, APDU ${device.max_apdu}, segmentation ${device.segmentation}`
