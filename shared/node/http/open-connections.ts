/** Bounds the open connections of an HTTP server, and what one may hold: memory, also where it never sends a request or reads an answer. */
import type { FastifyInstance } from 'fastify'
import type { Server as HttpServer } from 'node:http'
import { BlockList, isIPv6, type Server, type Socket } from 'node:net'
import { networkOf } from '#shared/core/auth/network.ts'
import { createBudget } from '#shared/core/budget.ts'
import { MINUTE } from '#shared/core/time.ts'

/** Of one network (an IPv4 address, an IPv6 /64), and of all. */
type Bounds = { perNetwork: number; all: number }
/** An office of forty browsers behind one address, with six connections each. All, with TLS and headers that never end, hold some 80 MB. */
export const PAGE_CONNECTIONS: Bounds = { perNetwork: 256, all: 1_024 }
/** Requests of one connection that wait for their answers. No browser sends a second one before; each answer has up to 350 kB. */
const WAITING_MAX = 4
/** How long a client may take nothing of an answer. */
const STALLED_MS = MINUTE

/** Requests of a connection that are not answered yet. */
const waiting = new WeakMap<Socket, number>()

/**
 * Bounds what one connection holds. One with more requests than may wait is ended before they are answered, because the answers would
 * wait in memory for a client to read them. One whose client takes nothing of its answers is ended too; one that waits for an answer
 * stays, because a run or a stream of events may send nothing for longer.
 */
export function limitWaiting(app: FastifyInstance, stalledMs = STALLED_MS): void {
  const server: HttpServer = app.server
  server.prependListener('request', ({ socket }, response) => {
    waiting.set(socket, (waiting.get(socket) ?? 0) + 1)
    response.once('close', () => waiting.set(socket, waiting.get(socket)! - 1))
  })
  server.setTimeout(stalledMs, socket => {
    if (socket.writableLength > 0 || !waiting.get(socket)) socket.destroy()
  })
  app.addHook('onRequest', (request, reply, done) => {
    const { socket } = request.raw
    if ((waiting.get(socket) ?? 0) <= WAITING_MAX) return done()
    reply.hijack()
    socket.destroy()
    done()
  })
}

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
