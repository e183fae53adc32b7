/** Who a client certificate speaks for, from its common name (contract §8). */
import { isId } from '#shared/core/model/model.ts'

export type Identity =
  | { kind: 'edge'; site_id: string; edge_id: string }
  /** `*` stands for all sites. */
  | { kind: 'central'; site_id: string }

/** X.520 `ub-common-name`: a longer name is not a valid certificate everywhere. */
export const CN_MAX = 64

/**
 * Reads `edge:{site_id}:{edge_id}` or `central:{site_id or *}`.
 *
 * @returns undefined for any other name; an id never holds `+`, `#` or `/`, so no name can widen a topic filter
 */
export function parseIdentity(cn: string): Identity | undefined {
  const [kind, site_id = '', edge_id = '', ...more] = cn.split(':')
  if (more.length > 0) return undefined
  if (kind === 'edge' && isId(site_id) && isId(edge_id)) return { kind, site_id, edge_id }
  if (kind === 'central' && edge_id === '' && cn === `central:${site_id}` && (site_id === '*' || isId(site_id))) {
    return { kind, site_id }
  }
  return undefined
}

/** The common name of an identity, which is its MQTT client id as well. */
export function commonName(identity: Identity): string {
  return identity.kind === 'edge' ? `edge:${identity.site_id}:${identity.edge_id}` : `central:${identity.site_id}`
}
