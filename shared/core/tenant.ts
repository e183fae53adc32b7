/** Tenants of a hub that hosts several customers (contract §3). */

/** The one tenant of a hub without tenants, and with them the tenant of whoever runs the hub. */
export const LEGACY_TENANT = 'legacy'

/** Lower case only, because a tenant names a folder; short, because it shares a certificate's 64 characters with site and edge. */
const TENANT_REGEXP = /^[a-z0-9][a-z0-9-]{0,31}$/

export const isTenantId = (text: unknown): text is string => typeof text === 'string' && TENANT_REGEXP.test(text)
