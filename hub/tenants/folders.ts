import { join } from 'node:path'

/** Folder of a tenant below a folder of the hub. */
export const tenantPrefix = (tenant_id: string): string => join('tenants', tenant_id)
