import type { Database } from '#shared/node/sqlite.ts'
import type { EndedSessions } from '#shared/node/auth/token-revocation.ts'
import { type KnownNetworks, NETWORKS_MAX } from '#shared/node/auth/login-throttle.ts'

/** Sessions whose token would have expired by itself are removed with each that is added. */
export function endedSessionStore(db: Database): EndedSessions {
  const has = db.prepare('SELECT 1 FROM ended_sessions WHERE session = ?').pluck()
  const add = db.prepare('INSERT OR IGNORE INTO ended_sessions VALUES (@session, @username, @until)')
  const forget = db.prepare('DELETE FROM ended_sessions WHERE expires_at <= ?')
  const count = db.prepare('SELECT count(*) FROM ended_sessions WHERE username = ?').pluck()
  const clear = db.prepare('DELETE FROM ended_sessions WHERE username = ?')
  const put = db.transaction((ended: Parameters<EndedSessions['add']>[0], now: number) => {
    forget.run(now)
    add.run(ended)
    return count.get(ended.username) as number
  })
  return { has: session => has.get(session) !== undefined, add: put.immediate, clear: username => void clear.run(username) }
}

/** @param now the wall clock, ms */
export function knownNetworkStore(db: Database, now: () => number): KnownNetworks {
  const has = db.prepare('SELECT 1 FROM known_networks WHERE username = @name AND network = @network').pluck()
  const add = db.prepare(
    `INSERT INTO known_networks VALUES (@name, @network, @at)
     ON CONFLICT (username, network) DO UPDATE SET seen_at = excluded.seen_at`,
  )
  const trim = db.prepare(
    `DELETE FROM known_networks WHERE username = @name AND network NOT IN
       (SELECT network FROM known_networks WHERE username = @name ORDER BY seen_at DESC, network LIMIT ${NETWORKS_MAX})`,
  )
  const put = db.transaction((name: string, network: string) => {
    add.run({ name, network, at: now() })
    trim.run({ name })
  })
  return {
    has: one => has.get(one) !== undefined,
    add: ({ name, network }) => void put.immediate(name, network),
  }
}
