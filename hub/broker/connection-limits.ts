/** Limits the open connections of each certificate. */
import type { TLSSocket } from 'node:tls'
import { createBudget } from '#shared/core/budget.ts'
import { parseIdentity } from '#shared/core/auth/identity.ts'
import { GuardedStream } from './guarded-stream.ts'
import { CONNECTIONS_MAX, CONNECTIONS_PER_NAME, PARTIAL_MAX, PARTIAL_PER_NAME } from './limits.ts'

type ConnectionLimits = {
  /** Counts the connection after its handshake; refuses it when its certificate has too many. */
  open(socket: TLSSocket): { ok: true; stream: GuardedStream } | { ok: false; reason: string }
}

/** @param sockets updated with every open connection */
export function createConnectionLimits(sockets: Set<TLSSocket>): ConnectionLimits {
  const connections = createBudget(CONNECTIONS_PER_NAME, CONNECTIONS_MAX)
  const partial = createBudget(PARTIAL_PER_NAME, PARTIAL_MAX)

  return {
    open(socket) {
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
