/** The page of tenants and its forms, for admins of the hub; the API calls the same commands. */
import { Type } from '@sinclair/typebox'
import { ofHub, type Route, route, strict } from '#shared/node/http/route.ts'
import { fits } from '#shared/node/http/schema-check.ts'
import { invalidField } from '#shared/central/commands/command.ts'
import {
  addMember,
  addTenant,
  BUDGET,
  budgetsFor,
  removeMember,
  setBudget,
  TENANT_NAME,
  TENANT_REF,
} from '#shared/central/commands/tenants.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { tenantsBody } from './tenants.view.ts'
import { words } from '#shared/node/http/language.ts'

export const TENANTS_PAGE = words(
  { href: '/tenants', text: 'Tenants', about: 'Customers of this hub, their people and budgets' },
  'about',
  'text',
)
const AT = words({ title: 'Tenants', current: TENANTS_PAGE.href }, 'title')
/** Blank is no limit. */
const LIMIT = Type.String({ pattern: '^\\d{0,15}$' })
const MEMBER = strict({ tenant_id: TENANT_REF, username: Type.String({ minLength: 1, maxLength: 128 }) })

type Context = Pick<CentralContext, 'auth' | 'users' | 'tenants' | 'tenancy'>

export const tenantPages = (context: Context, layout: PageLayout): Route[] =>
  ofHub([
    route({
      method: 'GET',
      path: TENANTS_PAGE.href,
      auth: 'admin',
      summary: 'The page of tenants',
      problems: ['tenants_disabled'],
      handle: call => {
        const tenants = budgetsFor(context, call.caller!).map(tenant => ({
          ...tenant,
          members: context.tenants.members(tenant.tenant_id),
        }))
        return layout.document(call, AT, tenantsBody({ tenants, csrf: layout.csrfOf(call.caller) }))
      },
    }),
    route({
      method: 'POST',
      path: TENANTS_PAGE.href,
      auth: 'admin',
      summary: 'The form that adds a tenant',
      takes: 'form',
      body: strict({ tenant_id: TENANT_REF, name: TENANT_NAME }),
      action: 'add_tenant',
      problems: ['tenants_disabled', 'invalid', 'conflict'],
      handle: async call => {
        await addTenant(context, call, call.body)
        return call.reply.redirect(TENANTS_PAGE.href, 303)
      },
    }),
    ...changeForms(context),
  ])

const changeForms = (context: Context): Route[] => [
  route({
    method: 'POST',
    path: '/tenants/budget',
    auth: 'admin',
    summary: 'The form that sets the limits of a tenant',
    takes: 'form',
    body: strict({ tenant_id: TENANT_REF, max_bytes: LIMIT, max_series: LIMIT, max_requests_per_minute: LIMIT }),
    action: 'set_budget',
    problems: ['tenants_disabled', 'unknown_tenant', 'invalid', 'conflict'],
    handle: call => {
      const { tenant_id, ...given } = call.body
      const limit = (name: keyof typeof given) => limitOf(name, given[name])
      const limits = { max_bytes: limit('max_bytes'), max_series: limit('max_series') }
      setBudget(context, call, tenant_id, { ...limits, max_requests_per_minute: limit('max_requests_per_minute') })
      return call.reply.redirect(TENANTS_PAGE.href, 303)
    },
  }),
  route({
    method: 'POST',
    path: '/tenants/members',
    auth: 'admin',
    summary: 'The form that lets a user into a tenant',
    takes: 'form',
    body: MEMBER,
    action: 'add_member',
    problems: ['tenants_disabled', 'unknown_tenant', 'unknown_user', 'conflict'],
    handle: call => {
      addMember(context, call, call.body.tenant_id, call.body.username)
      return call.reply.redirect(TENANTS_PAGE.href, 303)
    },
  }),
  route({
    method: 'POST',
    path: '/tenants/members/remove',
    auth: 'admin',
    summary: 'The form that takes a user out of a tenant and ends the tokens',
    takes: 'form',
    body: MEMBER,
    action: 'remove_member',
    problems: ['tenants_disabled', 'unknown_tenant', 'unknown_user'],
    handle: call => {
      removeMember(context, call, call.body.tenant_id, call.body.username)
      return call.reply.redirect(TENANTS_PAGE.href, 303)
    },
  }),
]

/** @throws Problem invalid for a limit below the least */
function limitOf(name: keyof typeof BUDGET, text: string): number | null {
  const limit = text === '' ? null : Number(text)
  if (!fits(BUDGET[name], limit)) throw invalidField(name, `${text} is too low: a page with its files needs ten requests`)
  return limit
}
