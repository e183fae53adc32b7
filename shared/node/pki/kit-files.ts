/** Creates edge kits (contract §9). A kit holds the edge's key and never the key of the authority. */
import { join } from 'node:path'
import { CN_MAX, commonName, type Identity, parseIdentity } from '#shared/core/auth/identity.ts'
import type { EdgeAddress } from '#shared/core/model/model.ts'
import { isTenantId } from '#shared/core/tenant.ts'
import { formatInstant } from '#shared/core/time.ts'
import { toMosquittoAcl } from '#shared/core/topic/rule.ts'
import { topicBase } from '#shared/core/topic/topics.ts'
import { makeFolder, replaceFile } from '#shared/node/files.ts'
import { zipTexts } from '#shared/node/zip.ts'
import { type EdgeJson, type Kit, KIT_EXTRAS, KIT_FILES } from './kit-read.ts'
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

const texts = (kit: Omit<Kit, 'key_pem'> & { key_pem?: string }): [string, string][] =>
  Object.entries({ ...KIT_FILES, ...KIT_EXTRAS }).flatMap(([field, name]) => {
    const value = kit[field as keyof Kit]
    if (value === undefined) return []
    return [[name, typeof value === 'string' ? withNewline(value) : `${JSON.stringify(value, null, 2)}\n`]]
  })

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)

const SECRET: string[] = [KIT_FILES.key_pem, KIT_EXTRAS.token, KIT_EXTRAS.connector_key_pem]
const modeOf = (name: string): number => (SECRET.includes(name) ? 0o600 : 0o644)

export const zipKit = (kit: Omit<Kit, 'key_pem'> & { key_pem?: string }): Promise<Buffer> =>
  zipTexts(texts(kit).map(([name, text]) => ({ name, text, mode: modeOf(name) })))

/**
 * Writes the files of a kit into a folder, which is created with access for its owner only. Other files of the folder stay
 * as they are.
 */
export async function writeKit(kit: Omit<Kit, 'key_pem'> & { key_pem?: string }, dir: string): Promise<void> {
  await makeFolder(dir, 0o700)
  for (const [name, text] of texts(kit)) await replaceFile(join(dir, name), text, modeOf(name))
}
