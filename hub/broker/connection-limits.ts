/** Limits the TLS handshakes of each network and the open connections of each certificate. */
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { parseIdentity } from '#shared/core/auth/identity.ts'
import { networkOf } from '#shared/core/auth/network.ts'
import { GuardedStream } from './guarded-stream.ts'
import {
  createBudget,
  CONNECTIONS_MAX,
  CONNECTIONS_PER_NAME,
  HANDSHAKES_MAX,
  HANDSHAKES_PER_NETWORK,
  PARTIAL_MAX,
  PARTIAL_PER_NAME,
} from './limits.ts'

export type ConnectionLimits = {
  /** Counts a new TCP connection; destroys it when too many handshakes are in progress. */
  startHandshake(socket: Socket): void
  /** Counts the connection after its handshake; refuses it when its certificate has too many. */
  open(socket: TLSSocket): { ok: true; stream: GuardedStream } | { ok: false; reason: string }
}

/** @param sockets updated with every open connection */
export function createConnectionLimits(sockets: Set<TLSSocket>): ConnectionLimits {
  const handshakes = createBudget(HANDSHAKES_PER_NETWORK, HANDSHAKES_MAX)
  const connections = createBudget(CONNECTIONS_PER_NAME, CONNECTIONS_MAX)
  const partial = createBudget(PARTIAL_PER_NAME, PARTIAL_MAX)
  /** By remote address and port, because the TCP socket and its TLS socket are two objects. */
  const handshaking = new Map<string, () => void>()

  return {
    startHandshake(socket) {
      const network = networkOf(socket.remoteAddress)
      if (!handshakes.take(network, 1)) return void socket.destroy()
      const key = keyOf(socket)
      const endHandshake = () => {
        if (handshaking.get(key) !== endHandshake) return
        handshaking.delete(key)
        handshakes.give(network, 1)
      }
      handshaking.set(key, endHandshake)
      socket.once('close', endHandshake)
    },
    open(socket) {
      handshaking.get(keyOf(socket))?.()
      const cn: unknown = socket.getPeerCertificate().subject?.CN
      const name = typeof cn === 'string' ? cn.slice(0, 64) : ''
      if (!connections.take(name, 1)) {
        socket.on('error', () => undefined)
        socket.destroy()
        return { ok: false, reason: `${name} has ${CONNECTIONS_PER_NAME} connections open: another is refused` }
      }
      sockets.add(socket)
      socket.once('close', () => {
        sockets.delete(socket)
        connections.give(name, 1)
      })
      const mayLag = parseIdentity(name)?.kind === 'central'
      return { ok: true, stream: new GuardedStream(socket, { name, partial, mayLag }) }
    },
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`
