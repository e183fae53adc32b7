import { Type } from '@sinclair/typebox'
import { Problem } from '#shared/core/problem.ts'
import { activeTenant, isHubAdmin } from '#shared/core/tenant.ts'
import { formatInstant } from '#shared/core/time.ts'
import { DONE_ANSWER, oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import { clearSessionCookie } from '#shared/node/auth/session-cookie.ts'
import type { LoginSession } from '#shared/node/auth/access-token.ts'
import { assertPerson } from '#shared/central/commands/command.ts'
import { changePassword, PASSWORD_CHANGE } from '#shared/central/commands/users.ts'
import { tenantsFor } from '#shared/central/commands/tenants.ts'
import type { CentralContext, Tenancy } from '#shared/central/context.ts'

const ROLE = oneOf(['viewer', 'operator', 'admin', 'edge'])
export const LoginReply = Type.Object({
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

/** Answers with a token or a password are neither cached nor compressed: the compressed size would reveal parts of them. */
export const SECRET_ANSWER = 'no-store, no-transform'

/** A login or a minted token, as the API answers it. */
export const loginReply = ({ token, role, subject, expires_at, ...session }: LoginSession, tenancy: Tenancy) => ({
  ok: true,
  token,
  access_token: token,
  token_type: 'Bearer',
  role,
  subject,
  expires_at: formatInstant(expires_at),
  multi_tenant: tenancy.multi_tenant,
  active_tenant_id: activeTenant(session),
  must_change_password: session.must_change_password ?? false,
})

type Context = Pick<CentralContext, 'auth' | 'users' | 'tenants' | 'tenancy'>

export const authRoutes = ({ auth, users, tenants, tenancy }: Context): Route[] => [
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
      return loginReply(session, tenancy)
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
      const { tenant_id } = caller!
      const session = await auth.agentToken(body?.ttl_secs, tenant_id === undefined ? {} : { tenant_id, tenant_ids: [tenant_id] })
      audit({ subject: session.subject, after: { role: session.role, expires_at: formatInstant(session.expires_at) } })
      return loginReply(session, tenancy)
    },
  }),
  ...logoutRoutes({ auth }),
  passwordRoute({ auth, users, tenancy }),
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
      multi_tenant: tenancy.multi_tenant,
      active_tenant_id: activeTenant(caller!),
      tenant_ids: tenantsFor({ tenants }, caller!).map(({ tenant_id }) => tenant_id),
      must_change_password: caller!.must_change_password ?? false,
    }),
  }),
]

const passwordRoute = (context: Pick<CentralContext, 'auth' | 'users' | 'tenancy'>): Route =>
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
      return loginReply(await changePassword(context, call, call.body), context.tenancy)
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
    reply: DONE_ANSWER,
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
      if (username !== caller!.subject && !isHubAdmin(caller!)) {
        throw new Problem('forbidden', 'Only an admin may sign out another user')
      }
      auth.logoutEverywhere(username)
      if (username === caller!.subject) clearSessionCookie(reply)
      audit({ subject: username })
      return { ok: true, username }
    },
  }),
]
