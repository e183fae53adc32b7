/** Commands on the tokens of scripts and agents, which the page and the API both call. */
import { Type } from '@sinclair/typebox'
import { type StoredApiToken, TOKEN_SCOPES, type TokenScope } from '#shared/core/auth/api-tokens.ts'
import type { UserRole } from '#shared/core/auth/users.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import { ID } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { DAY } from '#shared/core/time.ts'
import { newApiToken } from '#shared/node/auth/api-token.ts'
import { oneOf } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type Actor, assertPerson } from './command.ts'
import { USER_ROLE } from './users.ts'

/** Tokens of one workspace: the list is one page of a browser. */
const TOKENS_MAX = 1000
/** Days that a token lasts. Every token expires, because scripts are forgotten. */
export const TOKEN_DAYS = { default: 90, min: 1, max: 366 }

const TOKEN_NAME = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$' })
export const TOKEN_SCOPE = oneOf(TOKEN_SCOPES)
/** The fields of a new token. */
export const NEW_TOKEN = {
  name: TOKEN_NAME,
  role: USER_ROLE,
  scope: Type.Optional(TOKEN_SCOPE),
  building_id: Type.Optional(ID),
  days: Type.Optional(Type.Integer({ minimum: TOKEN_DAYS.min, maximum: TOKEN_DAYS.max, default: TOKEN_DAYS.default })),
}
type NewToken = { name: string; role: UserRole; scope?: TokenScope; building_id?: string; days?: number }

type TokenContext = Pick<CentralContext, 'apiTokens' | 'auth' | 'model'>
/** A token as pages, the API and the audit show it: without the hash of its secret. */
export type ShownToken = Omit<StoredApiToken, 'secret_hash'>

export const shownToken = ({ secret_hash: _hash, ...token }: StoredApiToken): ShownToken => token

/**
 * Makes a token; its text is in the answer alone.
 *
 * @throws Problem unknown_building; conflict for a name that is taken or beyond `TOKENS_MAX`; forbidden for a caller by token
 */
export function addToken(
  { apiTokens, auth, model }: TokenContext,
  { caller, audit }: Actor,
  { name, role, scope = 'read', building_id, days = TOKEN_DAYS.default }: NewToken,
): { token: ShownToken; secret: string } {
  assertPerson({ caller })
  if (building_id !== undefined) needBuilding(model, building_id)
  const known = apiTokens.list()
  if (known.some(one => one.name.toLowerCase() === name.toLowerCase())) {
    throw new Problem('conflict', `There is a token ${name} already`)
  }
  if (known.length >= TOKENS_MAX) throw new Problem('conflict', `There are ${TOKENS_MAX} tokens; revoke one first`)
  const { token: secret, token_id, secret_hash } = newApiToken()
  const now = auth.now()
  const times = { expires_at: now + days * DAY, last_used_at: null, created_by: caller!.subject, created_at: now }
  const stored = { token_id, name, role, scope, building_id: building_id ?? null, secret_hash, ...times }
  apiTokens.add(stored)
  audit({ subject: name, after: shownToken(stored) })
  return { token: shownToken(stored), secret }
}

/** Ends a token and its event streams at once. @throws Problem unknown_token; forbidden for a caller by token */
export function revokeToken({ apiTokens, auth }: TokenContext, { caller, audit }: Actor, token_id: string): void {
  assertPerson({ caller })
  const before = apiTokens.get(token_id)
  if (!before) throw new Problem('unknown_token', `There is no token ${token_id}`)
  apiTokens.remove(token_id)
  auth.endStreams(token_id)
  audit({ subject: before.name, before: shownToken(before) })
}
