/** The request of a discovery and its state: the devices that answered, and the objects of each. */
import { INSTANCE_MAX } from '#shared/core/bacnet/object.ts'
import type { IAm } from '../i-am.ts'

/** The address of a device, in the fields of the catalogue. */
export type DeviceAddress = {
  host: string
  port: number
  /** Both set when the device is behind a router, whose host and port are then given; `mac` in hexadecimal. */
  network?: number
  mac?: string
}

export type DiscoveryRequest = {
  /** Instances that are called, both ends included. */
  low: number
  high: number
  /** Networks that are called: `all` that routers know, `local` for this IP network only, or one network number. */
  network: 'all' | 'local' | number
  /** Addresses that are called one by one instead of a broadcast. */
  addresses: { host: string; port: number }[]
  /** Wait for answers, s. */
  seconds: number
  /** Maximum rate of requests while objects are read, in addition to polling. */
  requests_per_second: number
}

export const BACNET_PORT = 47_808
export const DISCOVERY_DEFAULTS: DiscoveryRequest = {
  low: 0,
  high: INSTANCE_MAX,
  network: 'all',
  addresses: [],
  seconds: 5,
  requests_per_second: 20,
}

/** One object, with the properties that were read. */
export type FoundObject = {
  type: number
  instance: number
  name?: string
  description?: string
  /** Number of the engineering unit. */
  units?: number
  /** Of a binary object: inactive, active. Of a multi-state object: the text of state 1 first. */
  texts?: string[]
}

/**
 * The result for one device. `found`: everything was read. `partial`: some of it is missing. `refused`: it answers but does not list
 * its objects. `timeout`: it answered the Who-Is and nothing after that.
 */
export const DEVICE_OUTCOMES = ['waiting', 'reading', 'found', 'partial', 'refused', 'timeout'] as const
export type DeviceOutcome = (typeof DEVICE_OUTCOMES)[number]

export type DeviceResult = DeviceAddress &
  IAm & {
    /** Key of the device in this discovery. */
    key: string
    outcome: DeviceOutcome
    /** Why the outcome is not `found`. */
    reason: string | null
    name: string | null
    vendor: string | null
    model: string | null
    /** Whether it supports ReadPropertyMultiple; null before it was tried. */
    multiple: boolean | null
    /** Batch size at the end. */
    batch_size: number | null
    /** Entries of its object list, and those of them that can be points; null before the list is known. */
    listed: number | null
    objects: FoundObject[]
    /** Number of objects that are no points, by the name of their type. */
    others: Record<string, number>
    requests: number
  }

type LogLine = { n: number; at: number; text: string }

/** `outside`: beyond the bounds. `second_way`: a known device, received through another router. */
export const IGNORED_WHY = ['malformed', 'outside', 'second_way', 'too_many'] as const
export type IgnoredWhy = (typeof IGNORED_WHY)[number]
/** An ignored I-Am with code and text of the reason, and how often it arrived. */
type IgnoredIAm = {
  host: string
  port: number
  device_instance: number | null
  why: IgnoredWhy
  reason: string
  count: number
}

export const DISCOVERY_STATES = ['running', 'done', 'stopped', 'failed'] as const
type DiscoveryState = (typeof DISCOVERY_STATES)[number]

export type Discovery = {
  job_id: string
  state: DiscoveryState
  request: DiscoveryRequest
  started_at: number
  finished_at: number | null
  /** Why the discovery failed. */
  error: string | null
  log: LogLine[]
  /** Lines so far; the oldest are dropped when there are too many. */
  lines: number
  calls_sent: number
  i_ams: { heard: number; taken: number; repeated: number }
  ignored: IgnoredIAm[]
  devices: DeviceResult[]
}

/** Maximum number of log lines; pages and API show all of them. */
const LINES_MAX = 500
/** Maximum number of listed senders; further ones are not listed. */
export const IGNORED_MAX = 100

export const createDiscovery = (job_id: string, request: DiscoveryRequest, now: number): Discovery => ({
  job_id,
  state: 'running',
  request,
  started_at: now,
  finished_at: null,
  error: null,
  log: [],
  lines: 0,
  calls_sent: 0,
  i_ams: { heard: 0, taken: 0, repeated: 0 },
  ignored: [],
  devices: [],
})

/** Adds a line to the log. */
export function addLogLine(discovery: Discovery, now: number, text: string): void {
  discovery.log.push({ n: ++discovery.lines, at: now, text })
  if (discovery.log.length > LINES_MAX) discovery.log.shift()
}

export function endDiscovery(discovery: Discovery, state: Exclude<DiscoveryState, 'running'>, now: number): void {
  discovery.state = state
  discovery.finished_at = now
}

/** @returns a text that is equal for equal addresses */
export const addressKey = ({ host, port, network, mac }: DeviceAddress): string =>
  network === undefined ? `${host}:${port}` : `${host}:${port}/${network}:${mac}`

export const deviceKey = (device: DeviceAddress & { device_instance: number }): string =>
  `${device.device_instance}@${addressKey(device)}`

/** @returns a text that is equal for devices that must be read one at a time: those behind one router share its trunk */
export const trunkKey = ({ host, port, network }: DeviceAddress): string => `${host}:${port}/${network ?? ''}`
