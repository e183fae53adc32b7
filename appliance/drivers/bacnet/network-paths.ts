/** The path to each device: the local interface, the network that it shares with others, and its own slot queue. */
import { limitRate, slotMs, slowestAfter } from './core/rate-limit.ts'
import { type Interface, type Interfaces, interfaceTo } from './interfaces.ts'
import { type SlotQueue, createSlotQueue } from './slot-queue.ts'
import type { Peer } from './outcome.ts'

/** An IP network, or a trunk behind a router. */
type Network = {
  readonly queue: SlotQueue
  /** @returns requests that may be in flight in the network for a device that takes `concurrency` at a time */
  width(concurrency: number): number
  /** @returns how long the next request waits, ms, so that the network is not flooded */
  pauseMs(nowMs: number): number
  /** @returns how long a request without an answer holds its slot, ms */
  slotMs(): number
  /** @param rttMs time of an answer since its request was first sent; 0 when a slot was released without an answer */
  noteAnswer(rttMs: number): void
}

export type NetworkPath = { readonly through: Interface; readonly network: Network; readonly device: SlotQueue }

/** Requests in flight in one IP network. A device that does not answer within 1 s releases its slot, so dead devices do not use them up. */
const IN_FLIGHT_MAX = 256

/**
 * @param perSecond maximum rate of requests to a network; undefined for no limit
 * @returns the path to a peer, the same for all peers that are one device
 */
export function createPathFinder(interfaces: Interfaces, perSecond: number | undefined): (peer: Peer) => NetworkPath {
  const networks = new Map<string, Network>()
  const devices = new Map<string, SlotQueue>()
  const known = new WeakMap<Peer, NetworkPath>()

  function find(peer: Peer): NetworkPath {
    const { station } = peer
    const through = interfaceTo(peer.host, interfaces)
    const router = `${peer.host}:${peer.port}`
    const trunk = station ? `${router} ${station.network}` : `from ${through.address}`
    const device = station ? `${trunk} ${station.mac.join('.')}` : router
    const network = reuse(networks, trunk, () => openNetwork(station === undefined, perSecond))
    return { through, network, device: reuse(devices, device, createSlotQueue) }
  }

  return peer => {
    const path = known.get(peer)
    if (path) return path
    const found = find(peer)
    known.set(peer, found)
    return found
  }
}

function openNetwork(isIp: boolean, perSecond: number | undefined): Network {
  let paidUntil = 0
  let slowestMs = 0
  return {
    queue: createSlotQueue(),
    width: concurrency => (isIp ? IN_FLIGHT_MAX : concurrency),
    pauseMs(nowMs) {
      if (perSecond === undefined) return 0
      const paid = limitRate(paidUntil, nowMs, perSecond)
      paidUntil = paid.paidUntil
      return paid.waitMs
    },
    slotMs: () => slotMs(slowestMs),
    noteAnswer(rttMs) {
      // The devices of an IP network do not wait for each other.
      if (!isIp) slowestMs = slowestAfter(slowestMs, rttMs)
    },
  }
}

function reuse<V>(map: Map<string, V>, key: string, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
