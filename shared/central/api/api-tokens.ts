/** Tokens of scripts and agents: an admin makes and revokes them. */
import { Type } from '@sinclair/typebox'
import { formatInstant } from '#shared/core/time.ts'
import { DONE_ANSWER, route, type Route, strict } from '#shared/node/http/route.ts'
import {
  addToken,
  NEW_TOKEN,
  revokeToken,
  type ShownToken,
  shownToken,
  TOKEN_SCOPE,
} from '#shared/central/commands/api-tokens.ts'
import { USER_ROLE } from '#shared/central/commands/users.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { SECRET_ANSWER } from './auth.ts'
import { cutPage, PAGE } from './list.ts'

const INSTANT = Type.String({ format: 'date-time' })
const TokenReply = Type.Object({
  token_id: Type.String(),
  name: Type.String(),
  role: USER_ROLE,
  scope: TOKEN_SCOPE,
  building_id: Type.Union([Type.String(), Type.Null()]),
  expires_at: INSTANT,
  last_used_at: Type.Union([INSTANT, Type.Null()]),
  created_by: Type.String(),
  created_at: INSTANT,
})
const BASE = '/api/tokens'

type Context = Pick<CentralContext, 'apiTokens' | 'auth' | 'model'>

export const apiTokenRoutes = (context: Context): Route[] => [
  route({
    method: 'GET',
    path: BASE,
    auth: 'admin',
    summary: 'Tokens of scripts and agents, by name; never their text',
    query: strict(PAGE),
    reply: Type.Object({ ok: Type.Literal(true), tokens: Type.Array(TokenReply), next_cursor: Type.Optional(Type.String()) }),
    problems: ['bad_cursor'],
    handle: ({ query }) => {
      const { items, ...next } = cutPage(context.apiTokens.list(), query, ({ token_id }) => token_id)
      return { ok: true, tokens: items.map(token => replyOf(shownToken(token))), ...next }
    },
  }),
  route({
    method: 'POST',
    path: BASE,
    auth: 'admin',
    summary: 'Makes a token; its text is in this answer alone',
    body: strict(NEW_TOKEN),
    reply: Type.Object({ ok: Type.Literal(true), token: TokenReply, secret: Type.String() }),
    action: 'add_token',
    problems: ['unknown_building', 'conflict'],
    handle: call => {
      call.reply.header('cache-control', SECRET_ANSWER)
      const { token, secret } = addToken(context, call, call.body)
      return { ok: true, token: replyOf(token), secret }
    },
  }),
  route({
    method: 'DELETE',
    path: `${BASE}/:token_id`,
    auth: 'admin',
    summary: 'Revokes a token at once',
    params: strict({ token_id: Type.String({ maxLength: 128 }) }),
    reply: DONE_ANSWER,
    action: 'revoke_token',
    problems: ['unknown_token'],
    handle: call => {
      revokeToken(context, call, call.params.token_id)
      return { ok: true }
    },
  }),
]

const replyOf = ({ expires_at, last_used_at, created_at, ...token }: ShownToken) => ({
  ...token,
  expires_at: formatInstant(expires_at),
  last_used_at: last_used_at === null ? null : formatInstant(last_used_at),
  created_at: formatInstant(created_at),
})
