import type { TenantStore } from '#shared/core/stores.ts'
import type { Tenant } from '#shared/core/tenant.ts'
import type { Database } from '../sqlite.ts'
import { toRow, upsert } from './row.ts'

const COLUMNS = [
  'tenant_id',
  'name',
  'max_bytes',
  'max_series',
  'max_requests_per_minute',
  'created_by',
  'created_at',
] as const satisfies (keyof Tenant)[]

export function tenantStore(db: Database): TenantStore {
  const list = db.prepare('SELECT * FROM tenants ORDER BY tenant_id')
  const get = db.prepare('SELECT * FROM tenants WHERE tenant_id = ?')
  const put = db.prepare(upsert('tenants', ['tenant_id'], COLUMNS))
  const tenantsOf = db.prepare('SELECT tenant_id FROM tenant_members WHERE username = ? ORDER BY tenant_id').pluck()
  const members = db.prepare('SELECT username FROM tenant_members WHERE tenant_id = ? ORDER BY username').pluck()
  const add = db.prepare('INSERT OR IGNORE INTO tenant_members (username, tenant_id) VALUES (?, ?)')
  const remove = db.prepare('DELETE FROM tenant_members WHERE username = ? AND tenant_id = ?')
  return {
    list: () => list.all() as Tenant[],
    get: tenant_id => get.get(tenant_id) as Tenant | undefined,
    put: tenant => void put.run(toRow(tenant, COLUMNS)),
    tenantsOf: username => tenantsOf.all(username) as string[],
    members: tenant_id => members.all(tenant_id) as string[],
    addMember: (tenant_id, username) => void add.run(username, tenant_id),
    removeMember: (tenant_id, username) => void remove.run(username, tenant_id),
  }
}
