/** Bounds the requests of devices that have no login. */
import { networkOf } from '#shared/core/auth/network.ts'
import { RequestMeter } from '#shared/core/tenant-budget.ts'

/** Requests that are answered in a minute, of one network (an IPv4 address, an IPv6 /64) and of all together. */
type Bounds = { perNetwork: number; all: number }

/** @returns counts a request of an address; seconds to wait, or 0 when it is answered */
export function createRequestThrottle({ perNetwork, all }: Bounds, now: () => number): (address: string | undefined) => number {
  const networks = new RequestMeter()
  const together = new RequestMeter()
  // What a network asks beyond its share is not counted for all, or it would take the share of the others.
  return address => networks.take(networkOf(address), perNetwork, now()) || together.take('', all, now())
}
