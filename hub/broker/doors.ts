/** How many may stand at the door and inside: handshakes by network, connections by certificate. */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { parseIdentity } from '#shared/core/auth/identity.ts'
import { networkOf } from '#shared/core/auth/network.ts'
import { GuardedStream } from './guarded-stream.ts'
import {
  budget,
  CONNECTIONS_MAX,
  CONNECTIONS_PER_NAME,
  HANDSHAKES_MAX,
  HANDSHAKES_PER_NETWORK,
  PARTIAL_MAX,
  PARTIAL_PER_NAME,
} from './limits.ts'

export type Doors = {
  /** A connection has come; it is ended when too many handshakes are under way. */
  knock(socket: Socket): void
  /** The handshake is done. */
  enter(socket: TLSSocket): { ok: true; stream: GuardedStream } | { ok: false; reason: string }
}

/** @param sockets kept up to date with all that are inside */
export function openDoors(sockets: Set<TLSSocket>): Doors {
  const handshakes = budget(HANDSHAKES_PER_NETWORK, HANDSHAKES_MAX)
  const inside = budget(CONNECTIONS_PER_NAME, CONNECTIONS_MAX)
  const partial = budget(PARTIAL_PER_NAME, PARTIAL_MAX)
  /** By both ends' ports and addresses: the socket of TCP and that of TLS are two objects. */
  const waiting = new Map<string, () => void>()

  return {
    knock(socket) {
      const network = networkOf(socket.remoteAddress)
      if (!handshakes.take(network, 1)) return void socket.destroy()
      const key = keyOf(socket)
      const leave = () => {
        if (waiting.get(key) !== leave) return
        waiting.delete(key)
        handshakes.give(network, 1)
      }
      waiting.set(key, leave)
      socket.once('close', leave)
    },
    enter(socket) {
      waiting.get(keyOf(socket))?.()
      const cn: unknown = socket.getPeerCertificate().subject?.CN
      const name = typeof cn === 'string' ? cn.slice(0, 64) : ''
      if (!inside.take(name, 1)) {
        socket.on('error', () => undefined)
        socket.destroy()
        return { ok: false, reason: `${name} has ${CONNECTIONS_PER_NAME} connections open: another is refused` }
      }
      sockets.add(socket)
      socket.once('close', () => {
        sockets.delete(socket)
        inside.give(name, 1)
      })
      const mayLag = parseIdentity(name)?.kind === 'central'
      return { ok: true, stream: new GuardedStream(socket, { name, partial, mayLag }) }
    },
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
