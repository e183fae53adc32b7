/** Lets TLS handshakes begin in turn, so that a fleet that comes back all at once waits instead of being refused. */
import type { Socket } from 'node:net'
import { networkOf } from '#shared/core/auth/network.ts'
import { createBudget } from '#shared/core/budget.ts'
import {
  HANDSHAKES_MAX,
  HANDSHAKES_PER_NETWORK,
  HANDSHAKES_WAITING_MAX,
  HANDSHAKES_WAITING_MS,
  HANDSHAKES_WAITING_PER_NETWORK,
} from './limits.ts'

export type Handshakes = {
  /**
   * Calls `begin` when it is the turn of this TCP connection, which nobody has read from. Destroys the connection when too many wait,
   * or when it has waited too long.
   */
  enter(socket: Socket, begin: () => void): void
  /** The handshake of the connection from this address and port is complete. One that fails needs no call. */
  complete(from: Pick<Socket, 'remoteAddress' | 'remotePort'>): void
  /** Destroys the connections that wait and those whose handshake is not complete. */
  close(): void
}

type Waiting = { socket: Socket; begin: () => void; timer: NodeJS.Timeout }
/** `end` counts the handshake as ended, once. */
type Running = { socket: Socket; end: () => void }

export function createHandshakes(): Handshakes {
  const slots = createBudget(HANDSHAKES_PER_NETWORK, HANDSHAKES_MAX)
  const places = createBudget(HANDSHAKES_WAITING_PER_NETWORK, HANDSHAKES_WAITING_MAX)
  /** By remote address and port, because the TCP socket and its TLS socket are two objects. */
  const running = new Map<string, Running>()
  /** By network, each in the order of arrival. A network whose turn it was goes to the end. */
  const queues = new Map<string, Set<Waiting>>()

  const run = (network: string, socket: Socket, begin: () => void) => {
    const key = keyOf(socket)
    const end = () => {
      if (running.get(key)?.socket !== socket) return
      running.delete(key)
      slots.give(network, 1)
      runNext()
    }
    running.set(key, { socket, end })
    socket.once('close', end)
    begin()
  }
  const runNext = () => {
    for (const [network, queue] of queues) {
      if (!slots.take(network, 1)) continue
      const next = queue.values().next().value!
      queues.delete(network)
      queues.set(network, queue)
      leave(network, next)
      return run(network, next.socket, next.begin)
    }
  }
  const leave = (network: string, one: Waiting) => {
    clearTimeout(one.timer)
    const queue = queues.get(network)
    if (!queue?.delete(one)) return
    if (queue.size === 0) queues.delete(network)
    places.give(network, 1)
  }

  return {
    enter(socket, begin) {
      const network = networkOf(socket.remoteAddress)
      if (slots.take(network, 1)) return run(network, socket, begin)
      if (!places.take(network, 1)) return void socket.destroy()
      const one = { socket, begin, timer: setTimeout(() => socket.destroy(), HANDSHAKES_WAITING_MS) }
      queues.set(network, (queues.get(network) ?? new Set()).add(one))
      socket.once('close', () => leave(network, one))
    },
    complete: from => running.get(keyOf(from))?.end(),
    close() {
      for (const queue of queues.values()) for (const { socket } of queue) socket.destroy()
      for (const { socket } of running.values()) socket.destroy()
    },
  }
}

const keyOf = ({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string =>
  `${remoteAddress} ${remotePort}`
