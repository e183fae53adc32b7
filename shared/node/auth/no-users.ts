import { randomBytes } from 'node:crypto'
import type { Logger } from 'pino'
import { openRefusedLogins } from './refused-logins.ts'
import { type Auth, openAuth } from './token.ts'

/** For a process without users: no token and no password is ever valid, only what its routes admit themselves. */
export function openAuthWithoutUsers(log: Logger, now: () => number): Auth {
  const passwords = { admin: undefined, agent: undefined, viewer: undefined }
  const settings = { secret: randomBytes(32).toString('hex'), passwords, trustedProxies: [] }
  const onRefused = openRefusedLogins(undefined, log, now).add
  return openAuth({ settings, epochs: { get: () => 0, set: () => undefined }, now, onRefused })
}
