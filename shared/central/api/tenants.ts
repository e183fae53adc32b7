/** Tenants of a hub: an admin of the hub adds them and their members, a user selects one. */
import { Type } from '@sinclair/typebox'
import { activeTenant } from '#shared/core/tenant.ts'
import { DONE_ANSWER, ofHub, route, type Route, strict } from '#shared/node/http/route.ts'
import {
  addMember,
  addTenant,
  BUDGET,
  budgetsFor,
  needTenant,
  removeMember,
  selectTenant,
  setBudget,
  TENANT_NAME,
  TENANT_REF,
  tenantsFor,
} from '#shared/central/commands/tenants.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { LoginReply, loginReply, SECRET_ANSWER } from './auth.ts'
import { cutPage, PAGE } from './list.ts'

type Context = Pick<CentralContext, 'auth' | 'users' | 'tenants' | 'tenancy'>

const BASE = '/api/tenants'
const MEMBER = `${BASE}/:tenant_id/members/:username`
const MEMBER_PARAMS = strict({ tenant_id: TENANT_REF, username: Type.String({ maxLength: 128 }) })
const Tenants = Type.Array(Type.Object({ tenant_id: Type.String(), name: Type.String() }))

const Use = Type.Object({ bytes: Type.Integer(), series: Type.Integer(), requests_per_minute: Type.Integer() })

export const tenantRoutes = (context: Context): Route[] => [
  ...ofHub([...listRoutes(context), ...memberRoutes(context), changeBudgetRoute(context)]),
  budgetsRoute(context),
]

const listRoutes = (context: Context): Route[] => [
  route({
    method: 'GET',
    path: BASE,
    auth: 'viewer',
    summary: 'The tenants that the caller may select; an admin of the hub sees all',
    query: strict(PAGE),
    reply: Type.Object({
      ok: Type.Literal(true),
      multi_tenant: Type.Boolean(),
      active_tenant_id: Type.String(),
      tenants: Tenants,
      next_cursor: Type.Optional(Type.String()),
    }),
    problems: ['bad_cursor'],
    handle: ({ caller, query }) => {
      const { items, ...next } = cutPage(tenantsFor(context, caller!), query, ({ tenant_id }) => tenant_id)
      const tenants = items.map(({ tenant_id, name }) => ({ tenant_id, name }))
      const { multi_tenant } = context.tenancy
      return { ok: true, multi_tenant, active_tenant_id: activeTenant(caller!), tenants, ...next }
    },
  }),
  route({
    method: 'POST',
    path: BASE,
    auth: 'admin',
    summary: 'Adds a tenant with a workspace of its own',
    body: strict({ tenant_id: TENANT_REF, name: TENANT_NAME }),
    reply: Type.Object({ ok: Type.Literal(true), tenant_id: Type.String(), name: Type.String() }),
    action: 'add_tenant',
    problems: ['tenants_disabled', 'invalid', 'conflict'],
    handle: async call => {
      const { tenant_id, name } = await addTenant(context, call, call.body)
      return { ok: true, tenant_id, name }
    },
  }),
  route({
    method: 'POST',
    path: `${BASE}/select`,
    auth: 'viewer',
    summary: 'A token of the caller in another tenant; without tenants one in the only tenant',
    body: strict({ tenant_id: TENANT_REF }),
    reply: LoginReply,
    action: 'select_tenant',
    handle: async ({ body, caller, reply, audit }) => {
      reply.header('cache-control', SECRET_ANSWER)
      const session = await selectTenant(context, caller!, body.tenant_id)
      audit({ subject: caller!.subject, after: { tenant_id: activeTenant(session) } })
      return loginReply(session, context.tenancy)
    },
  }),
]

const budgetsRoute = (context: Context): Route =>
  route({
    method: 'GET',
    path: `${BASE}/budgets`,
    auth: 'admin',
    summary: 'Use and limits of all tenants for an admin of the hub, of the own tenant for any other',
    query: strict(PAGE),
    reply: Type.Object({
      ok: Type.Literal(true),
      tenants: Type.Array(
        Type.Object({
          tenant_id: Type.String(),
          name: Type.String(),
          use: Type.Union([Use, Type.Null()]),
          limits: Type.Object(BUDGET),
        }),
      ),
      next_cursor: Type.Optional(Type.String()),
    }),
    problems: ['tenants_disabled', 'bad_cursor'],
    handle: ({ caller, query }) => {
      const { items, ...next } = cutPage(budgetsFor(context, caller!), query, ({ tenant_id }) => tenant_id)
      return { ok: true, tenants: items, ...next }
    },
  })

const changeBudgetRoute = (context: Context): Route =>
  route({
    method: 'PATCH',
    path: `${BASE}/:tenant_id/budget`,
    auth: 'admin',
    summary: 'Sets limits of a tenant; those that are left out stay, null is no limit',
    params: strict({ tenant_id: TENANT_REF }),
    body: Type.Partial(strict(BUDGET)),
    reply: Type.Object({ ok: Type.Literal(true), tenant_id: Type.String(), limits: Type.Object(BUDGET) }),
    action: 'set_budget',
    problems: ['tenants_disabled', 'unknown_tenant', 'conflict'],
    handle: call => {
      const { tenant_id } = call.params
      return { ok: true, tenant_id, limits: setBudget(context, call, tenant_id, call.body) }
    },
  })

const memberRoutes = (context: Context): Route[] => [
  route({
    method: 'GET',
    path: `${BASE}/:tenant_id/members`,
    auth: 'admin',
    summary: 'The users who may enter a tenant',
    params: strict({ tenant_id: TENANT_REF }),
    reply: Type.Object({ ok: Type.Literal(true), members: Type.Array(Type.String()) }),
    problems: ['tenants_disabled', 'unknown_tenant'],
    handle: ({ params: { tenant_id } }) => {
      needTenant(context, tenant_id)
      return { ok: true, members: context.tenants.members(tenant_id) }
    },
  }),
  route({
    method: 'PUT',
    path: MEMBER,
    auth: 'admin',
    summary: 'Lets a user into a tenant, from the next sign-in on',
    params: MEMBER_PARAMS,
    reply: DONE_ANSWER,
    action: 'add_member',
    problems: ['tenants_disabled', 'unknown_tenant', 'unknown_user', 'conflict'],
    handle: call => {
      addMember(context, call, call.params.tenant_id, call.params.username)
      return { ok: true }
    },
  }),
  route({
    method: 'DELETE',
    path: MEMBER,
    auth: 'admin',
    summary: 'Takes a user out of a tenant and ends the tokens',
    params: MEMBER_PARAMS,
    reply: DONE_ANSWER,
    action: 'remove_member',
    problems: ['tenants_disabled', 'unknown_tenant', 'unknown_user'],
    handle: call => {
      removeMember(context, call, call.params.tenant_id, call.params.username)
      return { ok: true }
    },
  }),
]
