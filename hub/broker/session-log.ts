/** Logs sessions: each of a client that connects now and then, and one line a minute of a client that connects again and again. */
import type { Logger } from 'pino'
import { MINUTE } from '#shared/core/time.ts'

/** Sessions of one client in a minute that are logged each: a box that starts again, or moves to another network. */
const SESSIONS_MAX = 3

type SessionLog = {
  connected(cn: string): void
  disconnected(cn: string): void
  /** Called often: writes what was counted in a minute that is over. */
  write(): void
}

/** `since`: when the minute began. `sessions`: those that began in it. `open`: those of now. `isCounted`: they are not logged each. */
type Client = { since: number; sessions: number; open: number; isCounted: boolean }

/** @param now ms of a clock that is never set */
export function createSessionLog(log: Pick<Logger, 'info' | 'warn'>, now: () => number): SessionLog {
  /** By common name; there are no more than certificates. */
  const clients = new Map<string, Client>()
  return {
    connected(cn) {
      const client = clients.get(cn) ?? { since: now(), sessions: 0, open: 0, isCounted: false }
      clients.set(cn, client)
      client.open++
      client.sessions++
      if (client.isCounted) return
      if (client.sessions <= SESSIONS_MAX) return log.info({ cn }, 'connected')
      client.isCounted = true
      log.warn({ cn }, 'connects again and again: its sessions are counted, and logged once a minute')
    },
    disconnected(cn) {
      const client = clients.get(cn)
      if (client) client.open--
      if (!client?.isCounted) log.info({ cn }, 'disconnected')
    },
    write() {
      for (const [cn, client] of clients) {
        if (now() - client.since < MINUTE) continue
        const { sessions, open, isCounted } = client
        if (isCounted) log.info({ cn, sessions }, `${open > 0 ? 'connected' : 'disconnected'}: its sessions of the last minute`)
        if (open === 0 && sessions === 0) clients.delete(cn)
        else clients.set(cn, { since: now(), sessions: 0, open, isCounted: sessions > SESSIONS_MAX })
      }
    },
  }
}
