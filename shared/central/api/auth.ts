import { Type } from '@sinclair/typebox'
import { Problem } from '#shared/core/problem.ts'
import { LEGACY_TENANT } from '#shared/core/tenant.ts'
import { formatInstant } from '#shared/core/time.ts'
import { oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import { clearSessionCookie } from '#shared/node/auth/session-cookie.ts'
import type { LoginSession } from '#shared/node/auth/access-token.ts'
import { assertPerson } from '#shared/central/commands/command.ts'
import { changePassword, PASSWORD_CHANGE } from '#shared/central/commands/users.ts'
import type { CentralContext } from '#shared/central/context.ts'

const ROLE = oneOf(['viewer', 'operator', 'admin', 'edge'])
const LoginReply = Type.Object({
  ok: Type.Literal(true),
  token: Type.String(),
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  role: ROLE,
  subject: Type.String(),
  expires_at: Type.String({ format: 'date-time' }),
  multi_tenant: Type.Boolean(),
  active_tenant_id: Type.String(),
  must_change_password: Type.Boolean(),
})

/** Answers that hold a token or a password are kept nowhere, and not compressed: their size would tell of what they hold. */
export const SECRET_ANSWER = 'no-store, no-transform'

/** A login or a minted token, as the API answers it. */
const loginReply = ({ token, role, subject, expires_at, must_change_password }: LoginSession) => ({
  ok: true,
  token,
  access_token: token,
  token_type: 'Bearer',
  role,
  subject,
  expires_at: formatInstant(expires_at),
  multi_tenant: false,
  active_tenant_id: LEGACY_TENANT,
  must_change_password: must_change_password ?? false,
})

export const authRoutes = ({ auth, users }: Pick<CentralContext, 'auth' | 'users'>): Route[] => [
  route({
    method: 'POST',
    path: '/api/auth/login',
    auth: 'public',
    summary: 'Logs in with user name and password',
    body: strict({ username: Type.String({ minLength: 1, maxLength: 128 }), password: Type.String({ maxLength: 1024 }) }),
    reply: LoginReply,
    bodyMax: 8192,
    action: 'login',
    problems: ['login_throttled'],
    handle: async ({ body, request, reply, audit }) => {
      reply.header('cache-control', SECRET_ANSWER)
      const session = await auth.login(body.username, body.password, request.ip)
      audit({ subject: session.subject, after: { role: session.role } })
      return loginReply(session)
    },
  }),
  route({
    method: 'POST',
    path: '/api/auth/agent-token',
    auth: 'admin',
    summary: 'Mints an operator token for the agent tools',
    body: Type.Union([strict({ ttl_secs: Type.Optional(Type.Integer()) }), Type.Null()]),
    reply: LoginReply,
    action: 'agent_token',
    handle: async ({ body, reply, audit, caller }) => {
      assertPerson({ caller })
      reply.header('cache-control', SECRET_ANSWER)
      const session = await auth.agentToken(body?.ttl_secs)
      audit({ subject: session.subject, after: { role: session.role, expires_at: formatInstant(session.expires_at) } })
      return loginReply(session)
    },
  }),
  ...logoutRoutes({ auth }),
  passwordRoute({ auth, users }),
  route({
    method: 'GET',
    path: '/api/auth/status',
    auth: 'public',
    summary: 'Whether a login is needed',
    reply: Type.Object({ ok: Type.Literal(true), auth_required: Type.Boolean(), agent_login_configured: Type.Boolean() }),
    handle: () => ({ ok: true, auth_required: auth.required, agent_login_configured: auth.agentLoginConfigured }),
  }),
  route({
    method: 'GET',
    path: '/api/auth/me',
    auth: 'viewer',
    anyBuilding: true,
    beforePasswordChange: true,
    summary: 'Who is calling',
    reply: Type.Object({
      ok: Type.Literal(true),
      username: Type.String(),
      role: ROLE,
      auth_required: Type.Boolean(),
      multi_tenant: Type.Boolean(),
      active_tenant_id: Type.String(),
      tenant_ids: Type.Array(Type.String()),
      must_change_password: Type.Boolean(),
    }),
    handle: ({ caller }) => ({
      ok: true,
      username: caller!.subject,
      role: caller!.role,
      auth_required: auth.required,
      multi_tenant: false,
      active_tenant_id: LEGACY_TENANT,
      tenant_ids: [LEGACY_TENANT],
      must_change_password: caller!.must_change_password ?? false,
    }),
  }),
]

const passwordRoute = (context: Pick<CentralContext, 'auth' | 'users'>): Route =>
  route({
    method: 'POST',
    path: '/api/auth/password',
    auth: 'viewer',
    beforePasswordChange: true,
    summary: 'Sets the password of the caller, ends all tokens of the caller and answers with a new one',
    body: strict(PASSWORD_CHANGE),
    reply: LoginReply,
    bodyMax: 8192,
    action: 'change_password',
    problems: ['invalid', 'login_throttled'],
    handle: async call => {
      call.reply.header('cache-control', SECRET_ANSWER)
      return loginReply(await changePassword(context, call, call.body))
    },
  })

const logoutRoutes = ({ auth }: Pick<CentralContext, 'auth'>): Route[] => [
  route({
    method: 'POST',
    path: '/api/auth/logout',
    auth: 'viewer',
    beforePasswordChange: true,
    summary: 'Ends the token that the request carries',
    body: Type.Union([strict({}), Type.Null()]),
    action: 'logout',
    problems: ['invalid'],
    handle: ({ caller, audit, reply }) => {
      auth.logout(caller!)
      clearSessionCookie(reply)
      audit({ subject: caller!.subject })
      return { ok: true }
    },
  }),
  route({
    method: 'POST',
    path: '/api/auth/logout-everywhere',
    auth: 'viewer',
    beforePasswordChange: true,
    summary: 'Ends every token of the caller; an admin may name another user',
    body: Type.Union([strict({ username: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })) }), Type.Null()]),
    reply: Type.Object({ ok: Type.Literal(true), username: Type.String() }),
    action: 'logout_everywhere',
    problems: ['invalid'],
    handle: ({ caller, body, audit, reply }) => {
      const username = body?.username ?? caller!.subject
      if (username !== caller!.subject && caller!.role !== 'admin') {
        throw new Problem('forbidden', 'Only an admin may sign out another user')
      }
      auth.logoutEverywhere(username)
      if (username === caller!.subject) clearSessionCookie(reply)
      audit({ subject: username })
      return { ok: true, username }
    },
  }),
]
