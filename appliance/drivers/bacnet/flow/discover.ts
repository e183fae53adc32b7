/** Runs a discovery: sends Who-Is, records the answers, and reads the objects of each device. The catalogue is not changed. */
import { findDuplicateInstances, formatIAm, noteIAm } from '../core/discovery/heard-devices.ts'
import {
  type DeviceResult,
  type Discovery,
  DISCOVERY_DEFAULTS,
  type DiscoveryRequest,
  endDiscovery,
  addLogLine,
  trunkKey,
} from '../core/discovery/discovery.ts'
import { formatAddress } from '../core/address.ts'
import type { UnconfirmedRequest } from '../core/frame.ts'
import { I_AM } from '../core/i-am.ts'
import type { Clock } from '#shared/core/ports.ts'
import { SECOND } from '#shared/core/time.ts'
import { countOf } from '#shared/core/number-text.ts'
import { scanDevice, type ScanParts } from './scan-device.ts'

/** The receivers of one Who-Is. */
export type WhoIsTarget =
  | { to: 'local' }
  | { to: 'everywhere' }
  | { to: 'network'; network: number }
  /** `isRouter`: called as a router, which passes the call on to its networks. */
  | { to: 'host'; host: string; port: number; isRouter?: boolean }

/** One datagram; `error` says why it was not sent. */
export type SentWhoIs = { from: string; to: { host: string; port: number }; error: string | null }

/** The network access of a discovery, shared with polling. */
export interface DiscoveryWire {
  /** Sends a Who-Is from every address. @returns the datagrams and their errors; empty when no address has a broadcast address */
  whoIs(call: WhoIsTarget, range: { low: number; high: number }): Promise<SentWhoIs[]>
  /** @returns a function that ends it */
  listen(take: (message: UnconfirmedRequest) => void): () => void
  ask: ScanParts['ask']
}

/** Devices that are read at the same time, each on its own trunk. */
const SCANS_MAX = 4
/** Maximum number of objects in memory, some 20 MB; a larger site is discovered in parts. */
const OBJECTS_MAX = 100_000

/**
 * Runs one discovery to its end and keeps `discovery` up to date. Each Who-Is is sent twice, because datagrams get lost; devices that
 * answer within `seconds` are read. A discovery that cannot send any Who-Is has failed.
 */
export async function discover(
  { wire, clock }: { wire: DiscoveryWire; clock: Clock },
  discovery: Discovery,
  signal: AbortSignal,
): Promise<void> {
  const { request } = discovery
  const pace = pacer(clock, request.requests_per_second)
  const parts: ScanParts = { ask: wire.ask, pace, now: clock.now }
  const trunks = inTrunks(SCANS_MAX)
  const scans: Promise<void>[] = []
  const scan = async (device: DeviceResult) => {
    if (signal.aborted) return leave(device, 'stopped before it was asked')
    const held = discovery.devices.reduce((sum, { objects }) => sum + objects.length, 0)
    if (held >= OBJECTS_MAX)
      return leave(device, `not asked: ${countOf(held, 'object')} are held already; ask with narrower bounds`)
    await scanDevice(parts, device, signal)
    addLogLine(discovery, clock.now(), summary(device))
  }
  const end = wire.listen(message => {
    if (message.service !== I_AM) return
    const device = noteIAm(discovery, message)
    if (!device) return
    addLogLine(discovery, clock.now(), formatIAm(device))
    scans.push(trunks(trunkKey(device), () => scan(device)))
  })
  const half = (request.seconds * SECOND) / 2
  for (const round of [1, 2]) {
    const failure = await callAll({ wire, clock, pace }, discovery, round, signal)
    if (discovery.calls_sent === 0 && failure !== undefined) discovery.error = failure
    if (discovery.error !== null || signal.aborted) break
    await clock.sleep(half, signal)
  }
  end()
  await Promise.all(scans)
  finish(discovery, clock.now(), signal.aborted)
}

/** An address is called the second time as a router. A device that is none answers both calls. */
function callsOf({ network, addresses }: DiscoveryRequest, round: number): WhoIsTarget[] {
  if (addresses.length) return addresses.map(({ host, port }) => ({ to: 'host', host, port, isRouter: round > 1 }))
  if (network === 'local') return [{ to: 'local' }]
  return network === 'all' ? [{ to: 'everywhere' }] : [{ to: 'network', network }]
}

type CallParts = { wire: DiscoveryWire; clock: Clock; pace: ScanParts['pace'] }

/** @returns why none of the calls could be sent; undefined when one could */
async function callAll(
  { wire, clock, pace }: CallParts,
  discovery: Discovery,
  round: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { low, high } = discovery.request
  const range = low === DISCOVERY_DEFAULTS.low && high === DISCOVERY_DEFAULTS.high ? '' : ` for ${low} to ${high}`
  let failure: string | undefined
  let isSent = false
  for (const call of callsOf(discovery.request, round)) {
    await pace(signal)
    if (signal.aborted) return undefined
    const sent = await wire.whoIs(call, { low, high })
    if (!sent.length) failure = 'there is no network with a broadcast address to call on'
    for (const { from, to, error } of sent) {
      const what = `Who-Is${range}${wordsOf(call)} from ${from} to ${to.host}:${to.port}`
      if (error === null) isSent = true
      else failure = error
      if (error === null) discovery.calls_sent++
      addLogLine(discovery, clock.now(), error === null ? what : `${what} cannot be sent: ${error}`)
    }
  }
  return isSent ? undefined : failure
}

function wordsOf(call: WhoIsTarget): string {
  switch (call.to) {
    case 'local':
      return ' on this IP network alone'
    case 'everywhere':
      return ' on all networks'
    case 'network':
      return ` on network ${call.network}`
    case 'host':
      return call.isRouter ? ' on all networks behind it' : ''
  }
}

function leave(device: DeviceResult, reason: string): void {
  device.outcome = 'partial'
  device.reason = reason
}

function summary(device: DeviceResult): string {
  const { device_instance, name, objects, outcome, reason, requests } = device
  const what = `device ${device_instance}${name === null ? '' : ` "${name}"`}: ${outcome}`
  return `${what}, ${countOf(objects.length, 'point')}, ${countOf(requests, 'request')}${reason === null ? '' : `; ${reason}`}`
}

function finish(discovery: Discovery, now: number, isStopped: boolean): void {
  for (const [instance, some] of findDuplicateInstances(discovery.devices)) {
    addLogLine(
      discovery,
      now,
      `instance ${instance} answers from ${some.map(formatAddress).join(' and ')}: an instance belongs to one device`,
    )
  }
  const { heard, taken } = discovery.i_ams
  const state = isStopped ? 'stopped' : discovery.error === null ? 'done' : 'failed'
  addLogLine(discovery, now, `${state}: ${countOf(heard, 'I-Am')} heard, ${countOf(taken, 'device')} taken`)
  endDiscovery(discovery, state, now)
}

/** Limits requests to an even rate of `perSecond`. */
function pacer(clock: Clock, perSecond: number): ScanParts['pace'] {
  let next = 0
  return async signal => {
    const at = Math.max(clock.now(), next)
    next = at + SECOND / perSecond
    await clock.sleep(at - clock.now(), signal)
  }
}

/** Runs one task at a time on each trunk, and on at most `most` trunks at once, in the order they came. */
function inTrunks(most: number): (trunk: string, task: () => Promise<void>) => Promise<void> {
  const busy = new Set<string>()
  const waiting: { trunk: string; start: () => void }[] = []
  const startNext = () => {
    const i = busy.size < most ? waiting.findIndex(({ trunk }) => !busy.has(trunk)) : -1
    const [next] = i < 0 ? [] : waiting.splice(i, 1)
    if (!next) return
    busy.add(next.trunk)
    next.start()
    startNext()
  }
  return async (trunk, task) => {
    await new Promise<void>(resolve => {
      waiting.push({ trunk, start: resolve })
      startNext()
    })
    try {
      await task()
    } finally {
      busy.delete(trunk)
      startNext()
    }
  }
}
