/** Creates edge kits (contract §9). A kit holds the edge's key and never the key of the authority. */
import { CN_MAX, commonName, type Identity, parseIdentity } from '#shared/core/auth/identity.ts'
import type { EdgeAddress } from '#shared/core/model/model.ts'
import { isTenantId } from '#shared/core/tenant.ts'
import { formatInstant } from '#shared/core/time.ts'
import { toMosquittoAcl } from '#shared/core/topic/rule.ts'
import { topicBase } from '#shared/core/topic/topics.ts'
import type { EdgeJson, Kit } from './kit-read.ts'
import { type Issued, issueClient, type Pair } from './pki.ts'

export type KitRequest = EdgeAddress & {
  broker_host: string
  broker_port: number
  hub_url?: string
  /** ms since 1970 UTC */
  now: number
  /** Validity of the certificate, days; 397 when left out. */
  days?: number
}

/**
 * Issues a certificate with a new key and adds everything that an edge needs to connect.
 *
 * @throws RangeError when the ids cannot form a common name
 */
export async function makeKit(ca: Pair, { now, days, ...place }: KitRequest): Promise<Kit & { serial: string }> {
  const identity = edgeIdentity(place)
  const issued = await issueClient(ca, { cn: commonName(identity), now, ...(days === undefined ? {} : { days }) })
  return { ...kitAround(ca.cert_pem, issued, place), key_pem: issued.key_pem, serial: issued.serial }
}

/** The files of a kit except the key. */
export function kitAround(ca_pem: string, issued: Issued, place: Omit<KitRequest, 'now' | 'days'>): Omit<Kit, 'key_pem'> {
  const edge: EdgeJson = {
    ...place,
    topic_base: topicBase(place),
    not_after: formatInstant(issued.not_after),
  }
  return { ca_pem, cert_pem: issued.cert_pem, edge, acl: toMosquittoAcl(edgeIdentity(place)) }
}

/** @throws RangeError when the ids cannot form a common name */
export function edgeIdentity({ tenant_id, site_id, edge_id }: EdgeAddress): Identity {
  if (tenant_id !== undefined && !isTenantId(tenant_id)) {
    throw new RangeError('a tenant id has up to 32 lower-case letters, digits and hyphens')
  }
  const cn = commonName({ kind: 'edge', tenant_id, site_id, edge_id })
  const identity = parseIdentity(cn)
  if (!identity) throw new RangeError('a site or edge id consists of letters, digits and ._-')
  if (cn.length > CN_MAX) throw new RangeError(`"${cn}" has more than the ${CN_MAX} characters of a common name: shorten the ids`)
  return identity
}
