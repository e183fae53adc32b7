/** Bounds the open connections of an HTTP server: each holds memory, also one that never sends a request. */
import { BlockList, isIPv6, type Server, type Socket } from 'node:net'
import { networkOf } from '#shared/core/auth/network.ts'
import { createBudget } from '#shared/core/budget.ts'

/** Of one network (an IPv4 address, an IPv6 /64), and of all. */
type Bounds = { perNetwork: number; all: number }
/** An office of forty browsers behind one address, with six connections each. All, with TLS and headers that never end, hold some 80 MB. */
export const PAGE_CONNECTIONS: Bounds = { perNetwork: 256, all: 1_024 }

/**
 * Destroys a new connection when its network, or all together, has too many. A proxy that stands in front of the server may have as
 * many as all together.
 *
 * @param trustedProxies addresses and networks such as 10.0.0.0/8
 */
export function limitConnections(server: Server, trustedProxies: readonly string[], { perNetwork, all }: Bounds): void {
  const budget = createBudget(perNetwork, all)
  const proxies = proxyList(trustedProxies)
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket
    const network = networkOf(remoteAddress)
    const isProxy = remoteAddress !== undefined && proxies.check(remoteAddress, isIPv6(remoteAddress) ? 'ipv6' : 'ipv4')
    if (!(isProxy ? budget.hasRoom('', 1) : budget.hasRoom(network, 1))) return void socket.destroy()
    budget.add(network, 1)
    socket.once('close', () => budget.give(network, 1))
  })
}

function proxyList(trustedProxies: readonly string[]): BlockList {
  const list = new BlockList()
  for (const one of trustedProxies) {
    const [address = '', bits] = one.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return list
}
