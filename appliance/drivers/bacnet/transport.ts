/** The BACnet/IP client. It never answers requests; datagrams that are neither replies to it nor unconfirmed requests are dropped. */
import type { Logger } from 'pino'
import type { Settings } from '#shared/core/env.ts'
import type { BACNET_VARIABLES } from '../../env.ts'
import { type Endpoint, readApdu, readFrame, readResult, readUnconfirmed, type UnconfirmedRequest } from './core/frame.ts'
import { BACNET_PORT } from './core/discovery/discovery.ts'
import { readNetworkMessage, readRejection } from './core/network-message.ts'
import type { ServiceRequest } from './core/reply.ts'
import { noTraffic, type ByteCounts } from '#shared/core/poll/traffic.ts'
import { broadcastOf } from './core/address.ts'
import { ALL_NETWORKS, encodeWhoIs, type InstanceRange } from './codec.ts'
import { type Bbmd, type BbmdRegistration, type RegistrationReport, startRegistration } from './bbmd-registration.ts'
import { type Counters, type Interface, interfaceTo, openInterfaces } from './interfaces.ts'
import type { RequestOutcome, Peer } from './outcome.ts'
import type { RetryPolicy } from '../protocol.ts'
import { createPathFinder } from './network-paths.ts'
import { Transactions } from './transactions.ts'

/** The local addresses and limits of BACnet/IP. */
export type Bind = {
  /** Local address; 0.0.0.0 for all of the machine. */
  address: string
  /** Further addresses, each with its own socket. Requests leave from the address on the subnet of the peer, otherwise from the first. */
  furtherAddresses?: readonly string[]
  /** UDP port; 0 takes any that is free. */
  port: number
  /** Maximum rate of requests to each network; unbounded when absent. */
  maxRequestsPerSecond?: number
  /** Broadcast manager with which to register as a foreign device; broadcasts then go there. */
  bbmd?: Bbmd
}

/** The receivers of a Who-Is. A broadcast goes to `port`, by default the one that is bound. */
type Audience =
  /** Devices on the IP networks of the local interfaces, or in reach of the broadcast manager. */
  | { to: 'local'; port?: number }
  | { to: 'everywhere'; port?: number }
  /** A network behind a router, 1..65534. */
  | { to: 'network'; network: number; port?: number }
  /** A router passes the call on to its networks only when `isRouter` (135-2020 6.5.3). */
  | ({ to: 'host'; isRouter?: boolean } & Endpoint)

/** One datagram of a Who-Is; `error`: why it was not sent. */
type WhoIsSent = { from: string; to: Endpoint; error: string | null }

type InterfaceReport = Counters & {
  address: string
  port: number
  /** Destinations of its broadcasts; empty when its network has no broadcast address. */
  broadcast_addresses: string[]
  /** Why broadcasts of its network cannot be received; null when they can. */
  deafness: string | null
}

/** Facts for the diagnosis of a discovery that found nothing. */
export type Diagnostics = { interfaces: InterfaceReport[]; bbmd: RegistrationReport | null }

export interface BacnetTransport {
  request(peer: Peer, question: ServiceRequest, retryPolicy: RetryPolicy, signal: AbortSignal): Promise<RequestOutcome>
  /** Calls `take` with every unconfirmed request that arrives, also by broadcast. @returns a function that ends this */
  listen(take: (message: UnconfirmedRequest) => void): () => void
  /**
   * Sends one Who-Is; `listen` receives the answers.
   *
   * @param range instances that answer; undefined means all
   * @returns the datagrams and their errors; empty when no interface is on a network with a broadcast address
   */
  whoIs(audience: Audience, range?: InstanceRange): Promise<WhoIsSent[]>
  /** Sums over all interfaces. */
  counters(): Readonly<Counters>
  diagnostics(): Diagnostics
  close(): Promise<void>
}

/** @param settings checked against their patterns @returns where the process sends and receives BACnet/IP */
export function readBind(settings: Settings<typeof BACNET_VARIABLES>): Bind {
  const [address = '', ...furtherAddresses] = settings.SERVICE_BACNET_BIND.split(',').map(part => part.trim())
  const [host, port = BACNET_PORT] = settings.SERVICE_BACNET_BBMD?.split(':') ?? []
  return {
    address,
    furtherAddresses,
    port: settings.SERVICE_BACNET_PORT,
    maxRequestsPerSecond: settings.SERVICE_BACNET_MAX_REQUESTS_PER_SECOND,
    ...(host && { bbmd: { host, port: Number(port), ttlSecs: settings.SERVICE_BACNET_BBMD_TTL_SECS } }),
  }
}

/**
 * Opens the client. The function is long because requests, listeners and registration share the interfaces.
 *
 * @param now clock of `at`; timeouts run on the monotonic clock of the machine
 * @param random in [0, 1), spreads repetitions
 * @param traffic counts the bytes of all interfaces
 * @throws Error when a port is in use, with the process that uses it if known, or an address does not belong to this machine
 */
export async function openBacnetTransport(
  bind: Bind,
  now: () => number,
  log: Logger,
  random: () => number = Math.random,
  traffic: ByteCounts = noTraffic(),
): Promise<BacnetTransport> {
  const listeners = new Set<(message: UnconfirmedRequest) => void>()
  let foreign: BbmdRegistration | undefined
  const interfaces = await openInterfaces([bind.address, ...(bind.furtherAddresses ?? [])], bind.port, receive, { log, traffic })
  const pathTo = createPathFinder(interfaces, bind.maxRequestsPerSecond)
  const transactions = new Transactions({ pathTo, now, random })
  const registrar = bind.bbmd && interfaceTo(bind.bbmd.host, interfaces)
  if (bind.bbmd && registrar) foreign = startRegistration(bind.bbmd, registrar.send, log)

  function receive(bytes: Uint8Array, from: Endpoint, { counters }: Interface): void {
    const frame = readFrame(bytes)
    if (!frame) {
      const message = readNetworkMessage(bytes)
      const rejection = message && readRejection(message)
      if (rejection) return transactions.takeRejection(from.host, rejection)
      // Routers announce their networks to each other.
      if (message) return void counters.unmatched++
      const result = readResult(bytes)
      if (result === undefined || !foreign?.take(from, result)) counters.malformed++
      return
    }
    const message = readUnconfirmed(frame, from)
    if (message) {
      counters.unconfirmed++
      return notifyListeners(message)
    }
    const apdu = readApdu(frame.apdu)
    if (!apdu) return void counters.malformed++
    // A frame with an origin is a forwarded broadcast, which is never the answer to a request.
    const taken = frame.origin ? 'unmatched' : transactions.take(from.host, frame.source, apdu, bytes.length)
    if (taken !== 'taken') counters[taken]++
  }

  /** A datagram from the network must not end the process, so an error of a listener is logged. */
  function notifyListeners(message: UnconfirmedRequest): void {
    for (const take of listeners) {
      try {
        take(message)
      } catch (error) {
        log.error(
          { err: error, from: message.host, service: message.service },
          'unconfirmed request failed in its listener: ignoring it',
        )
      }
    }
  }

  /** Sends a Who-Is from one interface; sends nothing without a broadcast address. */
  function sendWhoIs(through: Interface, audience: Audience, range: InstanceRange | undefined): Promise<WhoIsSent>[] {
    if (audience.to === 'host') {
      const datagram = encodeWhoIs(range, audience.isRouter ? ALL_NETWORKS : undefined, undefined)
      return [sendOne(through, datagram, audience)]
    }
    const { port = bind.port || BACNET_PORT } = audience
    const network = networkOf(audience)
    if (through === registrar && bind.bbmd) return [sendOne(through, encodeWhoIs(range, network, 'manager'), bind.bbmd)]
    return broadcastsOf(through).map(host => sendOne(through, encodeWhoIs(range, network, 'network'), { host, port }))
  }

  return {
    request: (...args) => transactions.request(...args),
    listen(take) {
      listeners.add(take)
      return () => void listeners.delete(take)
    },
    whoIs(audience, range) {
      const senders = audience.to === 'host' ? [interfaceTo(audience.host, interfaces)] : interfaces
      return Promise.all(senders.flatMap(through => sendWhoIs(through, audience, range)))
    },
    counters: () => sum(interfaces.map(({ counters }) => counters)),
    diagnostics: () => ({ interfaces: interfaces.map(reportOf), bbmd: foreign?.report() ?? null }),
    async close() {
      foreign?.close()
      transactions.close()
      await Promise.all(interfaces.map(one => one.close()))
    },
  }
}

function networkOf(audience: Exclude<Audience, { to: 'host' }>): number | undefined {
  if (audience.to === 'network') return audience.network
  return audience.to === 'everywhere' ? ALL_NETWORKS : undefined
}

const sendOne = (through: Interface, datagram: Buffer, { host, port }: Endpoint): Promise<WhoIsSent> =>
  new Promise(resolve => {
    const to = { host, port }
    through.send(datagram, to, error => resolve({ from: through.address, to, error: error?.message ?? null }))
  })

const broadcastsOf = ({ subnets }: Interface): string[] =>
  subnets().flatMap(({ address, netmask }) => broadcastOf(address, netmask) ?? [])

const reportOf = (one: Interface): InterfaceReport => ({
  address: one.address,
  port: one.port,
  broadcast_addresses: broadcastsOf(one),
  deafness: one.broadcastError,
  ...one.counters,
})

function sum([first, ...rest]: Counters[]): Counters {
  const total = { ...first! }
  for (const counters of rest) {
    for (const name of Object.keys(total) as (keyof Counters)[]) total[name] += counters[name]
  }
  return total
}
