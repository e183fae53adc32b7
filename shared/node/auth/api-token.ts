/** The tokens of scripts: `plenum_<id>_<secret>`. Only a hash of the secret is stored, so a token is shown once. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { type StoredApiToken, tokenSubject } from '#shared/core/auth/api-tokens.ts'
import { Problem } from '#shared/core/problem.ts'
import type { ApiTokenStore } from '#shared/core/stores.ts'
import { MINUTE } from '#shared/core/time.ts'
import type { Caller } from '#shared/node/http/route.ts'

const FORMAT = /^plenum_([0-9a-f]{12})_([\w-]{43})$/
/** The last use is written at most this often, so that reading does not write all the time. */
const USED_EVERY_MS = MINUTE

/** @returns a new token, its id and the hash of its 256-bit secret; what no one can guess needs no slow hash */
export function newApiToken(): { token: string; token_id: string; secret_hash: string } {
  const token_id = randomBytes(6).toString('hex')
  const secret = randomBytes(32).toString('base64url')
  return { token: `plenum_${token_id}_${secret}`, token_id, secret_hash: digest(secret).toString('hex') }
}

/** @returns whether a text is written as these tokens are; signed tokens have dots and are not */
export const isApiToken = (token: string): boolean => FORMAT.test(token)

/**
 * @returns the caller; undefined for a token that was never made, was revoked, or has another secret
 * @throws Problem unauthenticated for one that has expired
 */
export function apiTokenCaller(store: ApiTokenStore, token: string, now: number): Caller | undefined {
  const [, token_id = '', secret = ''] = FORMAT.exec(token) ?? []
  const stored = store.get(token_id)
  // One that does not exist takes the same comparison.
  const wanted = stored ? Buffer.from(stored.secret_hash, 'hex') : digest('')
  if (!timingSafeEqual(digest(secret), wanted) || !stored) return undefined
  if (now >= stored.expires_at) throw new Problem('unauthenticated', 'The token has expired')
  noteUse(store, stored, now)
  const { name, role, scope, building_id, expires_at } = stored
  return { subject: tokenSubject(name), role, via: 'bearer', session: token_id, expires_at, limits: { scope, building_id } }
}

/** A clock that was set back counts as a new use. A full disk does not block requests: the next use is written again. */
function noteUse(store: ApiTokenStore, { token_id, last_used_at }: StoredApiToken, now: number): void {
  if (last_used_at !== null && Math.abs(now - last_used_at) < USED_EVERY_MS) return
  try {
    store.used(token_id, now)
  } catch {}
}

const digest = (text: string) => createHash('sha256').update(text).digest()
