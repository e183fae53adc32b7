/** Tenants of a hub that hosts several customers (contract §3). */

/** The one tenant of a hub without tenants, and with them the tenant of the hub itself. */
export const LEGACY_TENANT = 'legacy'

/** Lower case only, because a tenant names a folder; short, because it shares a certificate's 64 characters with site and edge. */
export const TENANT_REGEXP = /^[a-z0-9][a-z0-9-]{0,31}$/

export const isTenantId = (text: unknown): text is string => typeof text === 'string' && TENANT_REGEXP.test(text)

/** A tenant as it is stored. `null` is no limit. */
export type Tenant = {
  tenant_id: string
  name: string
  max_bytes: number | null
  max_series: number | null
  max_requests_per_minute: number | null
  created_by: string
  /** ms since 1970 UTC */
  created_at: number
}

/** Whose data a caller asks for, and between which tenants the caller may change. Absent in tokens of a hub without tenants. */
export type TenantClaims = { tenant_id?: string; tenant_ids?: string[] }

/** The tenant that answers a caller. */
export const activeTenant = ({ tenant_id }: TenantClaims): string => tenant_id ?? LEGACY_TENANT
/** The tenants that a caller may select, by the token. */
export const tenantsOfCaller = ({ tenant_ids }: TenantClaims): string[] => tenant_ids ?? [LEGACY_TENANT]

/** @returns whether a caller administers the hub itself: users, tenants and budgets. An admin of a tenant alone does not. */
export const isHubAdmin = (caller: TenantClaims & { role: string }): boolean =>
  caller.role === 'admin' && tenantsOfCaller(caller).includes(LEGACY_TENANT)
