/** BACnet/IP client transactions over one UDP socket. It asks and never answers: what is no reply to it is dropped. */
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { Logger } from 'pino'
import {
  type Endpoint,
  isSameStation,
  readApdu,
  readFrame,
  readUnconfirmed,
  type Station,
  type Unconfirmed,
} from '#shared/core/bacnet/frame.ts'
import { type InvokeIds, invokeIds } from '#shared/core/bacnet/invoke-ids.ts'
import { type PropertyResult, type Question, readReply, type Refusal } from '#shared/core/bacnet/reply.ts'
import { ALL_NETWORKS, encodeRequest, encodeWhoIs, type InstanceRange } from './codec.ts'

export type Bind = { address: string; port: number }
export type Peer = { host: string; port: number; station?: Station }
/** Whom a Who-Is is for. `local`: whoever hears a broadcast on this IP network. */
export type Audience =
  | { to: 'local'; port?: number }
  | { to: 'everywhere'; port?: number }
  /** A network behind a router, 1..65534. */
  | { to: 'network'; network: number; port?: number }
  | ({ to: 'host' } & Endpoint)

export type Patience = { timeoutMs: number; retries: number }

/** How a request ended. It always ends; there is no exception for what a peer does. */
export type Outcome =
  /** `at`: when the answer came, on the clock given to the transport; `rttMs` from the last attempt. */
  | { state: 'results'; results: PropertyResult[]; at: number; rttMs: number }
  | { state: 'refused'; refusal: Refusal; at: number; rttMs: number }
  | { state: 'silent' | 'garbled' | 'cancelled'; reason: string }

export type Counters = {
  sent: number
  received: number
  /** Neither a reply nor an unconfirmed request in a well-formed frame. */
  malformed: number
  /** A reply that nobody waits for: late, doubled, or never asked for. */
  unmatched: number
  /** A reply with the id of an open request that is no answer to it. */
  garbled: number
  /** What was said to nobody in particular: I-Am, notifications, Who-Is. */
  unconfirmed: number
}

export interface BacnetTransport {
  request(peer: Peer, question: Question, patience: Patience, signal: AbortSignal): Promise<Outcome>
  /** Hears every unconfirmed request that comes in, also those that came by broadcast. @returns what ends it */
  listen(take: (message: Unconfirmed) => void): () => void
  /**
   * Sends one Who-Is; answers come to those who `listen`. A broadcast goes to `port`, by default the one we are bound to.
   *
   * @param range devices that are meant; undefined means all
   * @throws Error when it cannot be sent
   */
  whoIs(audience: Audience, range?: InstanceRange): Promise<void>
  counters(): Readonly<Counters>
  close(): Promise<void>
}

type Pending = {
  peer: Peer
  question: Question
  signal: AbortSignal
  sentAt: number
  /** Why the latest reply with this id was not taken. */
  garbled: string | undefined
  settle(outcome: Outcome): void
}

/** Room for what devices answer in one burst; the kernel's own is about 90 full datagrams. */
const RECEIVE_BUFFER_BYTES = 1024 * 1024
/** How long the id of a request that was sent again or given up stays unused: a late answer finds nobody. */
const QUIET_MS = 30_000

/**
 * Opens the client.
 *
 * @param bind local address and UDP port; port 0 takes any that is free
 * @param now what `at` is reckoned in; timeouts run on the machine's own clock
 * @throws Error when the port is taken or the address is not this machine's
 */
export async function openBacnetTransport(bind: Bind, now: () => number, log: Logger): Promise<BacnetTransport> {
  const ids = invokeIds<Pending>()
  const counters: Counters = { sent: 0, received: 0, malformed: 0, unmatched: 0, garbled: 0, unconfirmed: 0 }
  const listeners = new Set<(message: Unconfirmed) => void>()
  const heeded = new WeakSet<AbortSignal>()
  const socket = await bindSocket(bind)
  socket.on('error', error => log.error({ err: error }, 'the BACnet/IP socket reports an error'))
  socket.on('message', (bytes, { address, port }) => receive(bytes, { host: address, port }))

  /** Matches on id, address and station here, on service and properties in `readReply`; never on the sender's port. */
  function receive(bytes: Uint8Array, from: Endpoint): void {
    counters.received++
    const frame = readFrame(bytes)
    const unconfirmed = frame && readUnconfirmed(frame, from)
    if (unconfirmed) return announce(unconfirmed)
    const apdu = frame && readApdu(frame.apdu)
    if (!apdu) return void counters.malformed++
    const pending = ids.find(frame.origin?.host ?? from.host, apdu.invokeId)
    if (!pending || !isSameStation(frame.source, pending.peer.station)) return void counters.unmatched++
    const reply = readReply(apdu, pending.question)
    if (reply.state !== 'garbled') return pending.settle({ ...reply, at: now(), rttMs: performance.now() - pending.sentAt })
    counters.garbled++
    pending.garbled = reply.reason
  }

  function announce(message: Unconfirmed): void {
    counters.unconfirmed++
    for (const take of listeners) take(message)
  }

  function send(datagram: Buffer, { host, port }: Peer, fail: (error: Error) => void): void {
    counters.sent++
    try {
      socket.send(datagram, port, host, error => error && fail(error))
    } catch (error) {
      fail(error as Error)
    }
  }

  /** One listener for each signal, not for each request: a poll has thousands of requests and one signal. */
  function heed(signal: AbortSignal): void {
    if (heeded.has(signal)) return
    heeded.add(signal)
    const cancel = () => {
      for (const pending of ids.all()) if (pending.signal === signal) pending.settle(CANCELLED)
    }
    signal.addEventListener('abort', cancel, { once: true })
  }

  return {
    request: (peer, question, patience, signal) =>
      new Promise(resolve => {
        if (signal.aborted) return resolve(CANCELLED)
        heed(signal)
        return transact({ ids, send }, { peer, question, patience, signal, resolve })
      }),
    listen(take) {
      listeners.add(take)
      return () => void listeners.delete(take)
    },
    whoIs: (audience, range) =>
      new Promise((resolve, reject) => {
        const { datagram, peer } = ask(audience, range, bind.port || DEFAULT_PORT)
        socket.send(datagram, peer.port, peer.host, error => (error ? reject(error) : resolve()))
      }),
    counters: () => counters,
    async close() {
      for (const pending of ids.all()) pending.settle({ state: 'cancelled', reason: 'the transport closes' })
      socket.close()
      await once(socket, 'close')
    },
  }
}

const DEFAULT_PORT = 47_808
const LIMITED_BROADCAST = '255.255.255.255'

function ask(audience: Audience, range: InstanceRange | undefined, defaultPort: number): { datagram: Buffer; peer: Endpoint } {
  if (audience.to === 'host') return { datagram: encodeWhoIs(range, undefined, false), peer: audience }
  const networks = { local: undefined, everywhere: ALL_NETWORKS }
  const network = audience.to === 'network' ? audience.network : networks[audience.to]
  const { port = defaultPort } = audience
  return { datagram: encodeWhoIs(range, network, true), peer: { host: LIMITED_BROADCAST, port } }
}

async function bindSocket(bind: Bind): Promise<Socket> {
  const socket = createSocket({
    type: 'udp4',
    reuseAddr: false,
    recvBufferSize: RECEIVE_BUFFER_BYTES,
    // Addresses are literals, so that no name server delays a poll.
    lookup: (address, _, done) => done(null, address, 4),
  })
  try {
    // Listen first: with a lookup that answers at once, binding is over before `bind` returns.
    const listening = once(socket, 'listening')
    socket.bind(bind)
    await listening
    socket.setBroadcast(true)
    return socket
  } catch (error) {
    socket.close()
    const reason = (error as Error).message
    throw new Error(`BACnet/IP cannot use UDP port ${bind.port} of ${bind.address}: ${reason}`, { cause: error })
  }
}

const CANCELLED: Outcome = { state: 'cancelled', reason: 'cancelled' }

type Machinery = { ids: InvokeIds<Pending>; send(datagram: Buffer, peer: Peer, fail: (error: Error) => void): void }
type Request = { peer: Peer; question: Question; patience: Patience; signal: AbortSignal; resolve(outcome: Outcome): void }

/**
 * One request from its first datagram to its end. Each attempt waits half a timeout longer than the one before and
 * repeats the invoke id, so that the device can see the repetition, and a late answer is still the answer (135-2020 5.4.4).
 */
function transact({ ids, send }: Machinery, { peer, question, patience, signal, resolve }: Request): void {
  const pending: Pending = { peer, question, signal, sentAt: 0, garbled: undefined, settle }
  const opened = ids.open(peer.host, pending, performance.now())
  if (opened === undefined) return resolve({ state: 'silent', reason: `all invoke ids of ${peer.host} are in use` })
  const invokeId = opened
  const datagram = encodeRequest(question, invokeId, peer.station)
  let timer: NodeJS.Timeout | undefined
  let attempts = 0

  function settle(outcome: Outcome): void {
    if (ids.find(peer.host, invokeId) !== pending) return
    clearTimeout(timer)
    const isClean = attempts === 1 && !('reason' in outcome)
    ids.close(peer.host, invokeId, performance.now() + (isClean ? 0 : QUIET_MS))
    resolve(outcome)
  }

  function attempt(): void {
    if (attempts > patience.retries) return settle(unanswered(pending, attempts))
    timer = setTimeout(attempt, patience.timeoutMs * (1 + attempts / 2))
    attempts++
    pending.sentAt = performance.now()
    send(datagram, peer, error => settle({ state: 'silent', reason: `cannot be sent: ${error.message}` }))
  }

  attempt()
}

function unanswered({ garbled, peer }: Pending, attempts: number): Outcome {
  if (garbled) return { state: 'garbled', reason: garbled }
  return { state: 'silent', reason: `no answer from ${peer.host}:${peer.port} in ${attempts} attempts` }
}
