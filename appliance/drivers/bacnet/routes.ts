/** The way to each device: the interface, the network that it shares with others, and its own lane. */
import { pace } from './core/pace.ts'
import { type Interface, type Interfaces, interfaceTo } from './interfaces.ts'
import { type Lane, openLane } from './lanes.ts'
import type { Peer } from './peer.ts'

/** An IP network, or a trunk behind a router. */
type Network = {
  readonly lane: Lane
  /** How many may be on their way in it for a device that takes `concurrency` at a time. */
  width(concurrency: number): number
  /** @returns how long the next request waits, ms, so that the network is not flooded */
  pauseMs(nowMs: number): number
}

export type Route = { readonly through: Interface; readonly network: Network; readonly device: Lane }

/**
 * On their way at a time in an IP network. Who has not answered for a while is no longer counted, so that the dead do
 * not use it up.
 */
const IN_FLIGHT_MAX = 256

/**
 * @param perSecond requests that each network is sent at most; undefined for as many as there are
 * @returns the route to a peer, the same for all who mean the same device
 */
export function openRoutes(interfaces: Interfaces, perSecond: number | undefined): (peer: Peer) => Route {
  const networks = new Map<string, Network>()
  const devices = new Map<string, Lane>()
  const known = new WeakMap<Peer, Route>()

  function find(peer: Peer): Route {
    const { station } = peer
    const through = interfaceTo(peer.host, interfaces)
    const router = `${peer.host}:${peer.port}`
    const trunk = station ? `${router} ${station.network}` : `from ${through.address}`
    const device = station ? `${trunk} ${station.mac.join('.')}` : router
    const network = reuse(networks, trunk, () => openNetwork(station === undefined, perSecond))
    return { through, network, device: reuse(devices, device, openLane) }
  }

  return peer => {
    const route = known.get(peer)
    if (route) return route
    const found = find(peer)
    known.set(peer, found)
    return found
  }
}

function openNetwork(isIp: boolean, perSecond: number | undefined): Network {
  let paidUntil = 0
  return {
    lane: openLane(),
    width: concurrency => (isIp ? IN_FLIGHT_MAX : concurrency),
    pauseMs(nowMs) {
      if (perSecond === undefined) return 0
      const paid = pace(paidUntil, nowMs, perSecond)
      paidUntil = paid.paidUntil
      return paid.waitMs
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
