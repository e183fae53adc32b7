/** The holder of a client certificate, from its common name (contract §8). */
import { type EdgeAddress, isId } from '#shared/core/model/model.ts'
import { isTenantId } from '#shared/core/tenant.ts'

/** `*` stands for all sites; `tenants` is of a hub that serves all tenants beside its own sites. */
export type CentralIdentity = { kind: 'central'; site_id: string; tenants?: true }
export type Identity = ({ kind: 'edge' } & EdgeAddress) | CentralIdentity

/** X.520 `ub-common-name`: a longer name is not a valid certificate everywhere. */
export const CN_MAX = 64

/**
 * Reads `edge:{site_id}:{edge_id}`, `edge:{tenant_id}:{site_id}:{edge_id}`, `central:{site_id or *}` or `central:*:*`, which is of
 * all tenants and all sites.
 *
 * @returns undefined for any other name; an id never holds `+`, `#` or `/`, so no name can widen a topic filter
 */
export function parseIdentity(cn: string): Identity | undefined {
  const [kind, ...names] = cn.split(':')
  const [edge_id = '', site_id = '', tenant_id, ...more] = names.toReversed()
  if (kind === 'edge' && isId(site_id) && isId(edge_id) && more.length === 0) {
    if (tenant_id === undefined) return { kind, site_id, edge_id }
    return isTenantId(tenant_id) ? { kind, tenant_id, site_id, edge_id } : undefined
  }
  if (cn === ALL_TENANTS) return { kind: 'central', site_id: '*', tenants: true }
  const [site = ''] = names
  return kind === 'central' && names.length === 1 && (site === '*' || isId(site)) ? { kind, site_id: site } : undefined
}

const ALL_TENANTS = 'central:*:*'

/** The common name of an identity, which is its MQTT client id as well. */
export function commonName(identity: Identity): string {
  if (identity.kind === 'central') return identity.tenants ? ALL_TENANTS : `central:${identity.site_id}`
  const { tenant_id, site_id, edge_id } = identity
  return tenant_id === undefined ? `edge:${site_id}:${edge_id}` : `edge:${tenant_id}:${site_id}:${edge_id}`
}
