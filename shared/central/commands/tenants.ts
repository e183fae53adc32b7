/** Commands on tenants, which the pages and the API both call. */
import { Type } from '@sinclair/typebox'
import { isBuiltIn, type UserRole } from '#shared/core/auth/users.ts'
import { Problem } from '#shared/core/problem.ts'
import type { TenantBudget, TenantUse } from '#shared/core/tenant-budget.ts'
import { activeTenant, isHubAdmin, isTenantId, LEGACY_TENANT, type Tenant, tenantsOfCaller } from '#shared/core/tenant.ts'
import type { LoginSession } from '#shared/node/auth/access-token.ts'
import type { Caller } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type Actor, invalidField } from './command.ts'
import { needUser } from './users.ts'

/** Tenants of one hub: each has a database and some ten files open. */
const TENANTS_MAX = 200
/** Tenants of one user: their ids are in the token, and a browser takes a cookie of 4 KiB. */
const MEMBERSHIPS_MAX = 30

/** Any text, so that an id that cannot be one is answered like one that does not exist. */
export const TENANT_REF = Type.String({ minLength: 1, maxLength: 128 })
export const TENANT_NAME = Type.String({ minLength: 1, maxLength: 100 })

const limit = (minimum: number) => Type.Union([Type.Integer({ minimum, maximum: Number.MAX_SAFE_INTEGER }), Type.Null()])
/** The limits of a tenant; null is no limit. */
export const BUDGET = {
  max_bytes: limit(0),
  max_series: limit(0),
  // With fewer a person could not even load a page with its files.
  max_requests_per_minute: limit(10),
}

type Context = Pick<CentralContext, 'auth' | 'users' | 'tenants' | 'tenancy'>

/** The tenants that a caller may select, with their names. An admin of the hub sees all. */
export function tenantsFor({ tenants }: Pick<Context, 'tenants'>, caller: Caller): { tenant_id: string; name: string }[] {
  const known = [{ tenant_id: LEGACY_TENANT, name: LEGACY_TENANT }, ...tenants.list()]
  const own = tenantsOfCaller(caller)
  return known.filter(({ tenant_id }) => isHubAdmin(caller) || own.includes(tenant_id))
}

/** @throws Problem tenants_disabled, unknown_tenant */
export function needTenant({ tenants, tenancy }: Pick<Context, 'tenants' | 'tenancy'>, tenant_id: string): void {
  needTenants({ tenancy })
  if (tenant_id !== LEGACY_TENANT && !tenants.get(tenant_id))
    throw new Problem('unknown_tenant', `There is no tenant ${tenant_id}`)
}

function needTenants({ tenancy }: Pick<Context, 'tenancy'>): NonNullable<Context['tenancy']['open']> {
  if (tenancy.open) return tenancy.open
  throw tenantsDisabled()
}

const tenantsDisabled = () => new Problem('tenants_disabled', 'SERVICE_MULTI_TENANT is off: there is one tenant')

/**
 * Opens the workspace of a new tenant and lists it.
 *
 * @throws Problem tenants_disabled, invalid, or conflict for an id that is taken or beyond `TENANTS_MAX`
 */
export async function addTenant(
  { tenants, tenancy, auth }: Context,
  { caller, audit }: Actor,
  { tenant_id, name }: { tenant_id: string; name: string },
): Promise<Tenant> {
  const open = needTenants({ tenancy })
  if (!isTenantId(tenant_id)) throw invalidField('tenant_id', 'A tenant id has up to 32 lower-case letters, digits and hyphens')
  if (tenant_id === LEGACY_TENANT || tenants.get(tenant_id))
    throw new Problem('conflict', `There is a tenant ${tenant_id} already`)
  if (tenants.list().length >= TENANTS_MAX) throw new Problem('conflict', `There are ${TENANTS_MAX} tenants`)
  const budget = { max_bytes: null, max_series: null, max_requests_per_minute: null }
  const tenant: Tenant = { tenant_id, name: name.trim(), ...budget, created_by: caller!.subject, created_at: auth.now() }
  await open(tenant)
  tenants.put(tenant)
  audit({ subject: tenant_id, after: tenant })
  return tenant
}

/**
 * Sets limits of a tenant; those that are left out stay, and null is no limit. They count from the next message and request on.
 *
 * @throws Problem tenants_disabled, unknown_tenant, or conflict for the tenant of the hub itself, which has no limits
 */
export function setBudget(context: Context, { audit }: Actor, tenant_id: string, limits: Partial<TenantBudget>): TenantBudget {
  needTenant(context, tenant_id)
  const tenant = context.tenants.get(tenant_id)
  if (!tenant) throw new Problem('conflict', `${tenant_id} is the hub's own workspace and has no budget`)
  const after = { ...tenant, ...limits }
  context.tenants.put(after)
  audit({ subject: tenant_id, before: budgetOf(tenant), after: budgetOf(after) })
  return budgetOf(after)
}

/** Use and limits of the tenants that a caller administers: all for an admin of the hub, else the tenant of the token. @throws Problem tenants_disabled */
export function budgetsFor({ tenants, tenancy }: Pick<Context, 'tenants' | 'tenancy'>, caller: Caller): ShownBudget[] {
  const { useOf } = tenancy
  if (!useOf) throw tenantsDisabled()
  const shown = tenants.list().filter(({ tenant_id }) => isHubAdmin(caller) || tenant_id === activeTenant(caller))
  return shown.map(tenant => ({
    tenant_id: tenant.tenant_id,
    name: tenant.name,
    use: useOf(tenant.tenant_id) ?? null,
    limits: budgetOf(tenant),
  }))
}

/** `use` is null while the workspace of the tenant is not open. */
type ShownBudget = { tenant_id: string; name: string; use: TenantUse | null; limits: TenantBudget }

const budgetOf = ({ max_bytes, max_series, max_requests_per_minute }: Tenant): TenantBudget => ({
  max_bytes,
  max_series,
  max_requests_per_minute,
})

/** @throws Problem tenants_disabled, unknown_tenant, unknown_user, conflict beyond `MEMBERSHIPS_MAX` */
export function addMember(context: Context, { audit }: Actor, tenant_id: string, username: string): void {
  needTenant(context, tenant_id)
  const { tenants } = context
  if (!isBuiltIn(username)) needUser(context, username)
  const before = tenants.tenantsOf(username)
  if (!before.includes(tenant_id) && before.length >= MEMBERSHIPS_MAX) {
    throw new Problem('conflict', `${username} is a member of ${MEMBERSHIPS_MAX} tenants`)
  }
  tenants.addMember(tenant_id, username)
  audit({ subject: `${tenant_id}/${username}`, before, after: tenants.tenantsOf(username) })
}

/** Ends the user's tokens too, because each names the tenants of its user. @throws Problem tenants_disabled, unknown_tenant, unknown_user */
export function removeMember(context: Context, { audit }: Actor, tenant_id: string, username: string): void {
  needTenant(context, tenant_id)
  const { tenants, auth } = context
  const before = tenants.tenantsOf(username)
  if (!before.includes(tenant_id)) throw new Problem('unknown_user', `${username} is not a member of ${tenant_id}`)
  tenants.removeMember(tenant_id, username)
  if (isBuiltIn(username) || context.users.get(username)) auth.logoutEverywhere(username)
  audit({ subject: `${tenant_id}/${username}`, before, after: tenants.tenantsOf(username) })
}

/**
 * A token of the caller in another tenant. Without tenants it is one like the caller's own.
 *
 * @throws Problem forbidden outside of the caller's tenants, in the same words whether there is such a tenant or not, and for
 *   callers who are no user
 */
export async function selectTenant(
  { auth, tenants, tenancy, users }: Context,
  caller: Caller,
  tenant_id: string,
): Promise<LoginSession> {
  const { subject, role } = caller
  if (role === 'edge' || (caller.via !== 'open' && !isBuiltIn(subject) && !users.get(subject))) {
    throw new Problem('forbidden', 'Only a user selects a tenant')
  }
  const holder: Caller & { role: UserRole } = { ...caller, role }
  if (!tenancy.multi_tenant) return auth.reissue(holder, {})
  const isMember = tenant_id === activeTenant(caller) || tenantsFor({ tenants }, caller).some(one => one.tenant_id === tenant_id)
  if (!isMember) throw new Problem('forbidden', `${subject} is not a member of the tenant ${tenant_id}`)
  return auth.reissue(holder, { tenant_id, tenant_ids: tenantsOfCaller(caller) })
}
