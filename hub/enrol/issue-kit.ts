/** The commands of enrolment, which the page and the API both call. */
import { Type } from '@sinclair/typebox'
import { type Actor, invalidField } from '#shared/central/commands/command.ts'
import { type EdgeKey, edgeName, ID } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { CSR_MAX, type NewCertificate } from '#shared/core/telemetry/renewal-wire.ts'
import { formatInstant } from '#shared/core/time.ts'
import type { Authority, EdgeCertificate, IssuedKit } from './authority.ts'
import type { EstSecret, EstSecrets } from './est-secrets.ts'
import type { IsOurs, PendingBox, PendingBoxes } from './pending-boxes.ts'
import type { Renewals, Renewed } from './renewals.ts'
import type { ServiceCertificates } from './service-certificates.ts'

/** A name of the domain name system has at most this many characters. @source RFC 1035 2.3.4 */
const HOST_MAX = 253

/** An empty one is refused: it would be taken for an order of a kit with a key. */
export const CSR_TEXT = Type.String({ minLength: 1, maxLength: CSR_MAX })

/** The fields of an order of a kit. */
export const KIT_FIELDS = {
  site_id: ID,
  edge_id: ID,
  broker_host: Type.Optional(Type.String({ maxLength: HOST_MAX, pattern: String.raw`^[A-Za-z0-9._:-]*$` })),
  broker_port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
  csr_pem: Type.Optional(CSR_TEXT),
}
type KitBody = {
  site_id: string
  edge_id: string
  broker_host?: string | undefined
  broker_port?: number | undefined
  csr_pem?: string | undefined
  replace: boolean
}

/** Where certificates come from. */
type Issuing = {
  authority: Authority
  /** The tenant whose edges are enrolled; undefined for those of the hub itself. */
  tenant_id: string | undefined
  /** Port at which edges reach the broker. */
  brokerPort: number
}
export type Enrolment = Issuing & {
  renewals: Renewals
  pending: PendingBoxes
  isOurs: IsOurs
  secrets: EstSecrets
  /** Port of EST; undefined where it is off. */
  estPort: number | undefined
  /** Certificates of the hub itself; none for a tenant. */
  own: ServiceCertificates['states']
}

/**
 * Issues a kit and writes the audit row.
 *
 * @param host the name under which the caller reached this hub
 * @throws Problem conflict for an edge with a valid certificate without `replace`, invalid, no_authority
 */
export async function issueKit(
  { authority, tenant_id, brokerPort }: Issuing,
  { audit }: Pick<Actor, 'audit'>,
  { broker_host, broker_port = brokerPort, csr_pem, ...body }: KitBody,
  host: string,
): Promise<IssuedKit & { filename: string }> {
  const place = { ...(tenant_id !== undefined && { tenant_id }), site_id: body.site_id, edge_id: body.edge_id }
  const order = { ...place, broker_host: await hostFor(authority, broker_host || undefined, host), broker_port }
  const kit = await authority.issue({ ...order, csr_pem: csr_pem || undefined, replace: body.replace })
  const { serial, not_after, revoked } = kit
  const after = { ...order, serial, not_after, revoked: revoked.map(one => one.serial), with_key: !csr_pem }
  audit({ subject: edgeName(body), after })
  return { ...kit, filename: `kit-${body.site_id}-${body.edge_id}.zip` }
}

/**
 * The broker's name for the edge: what was asked for, else the name that the caller uses, when the certificate of the broker
 * holds it; an edge refuses any other name.
 */
async function hostFor(authority: Authority, asked: string | undefined, reached: string): Promise<string> {
  const names = await authority.brokerHosts()
  const host = asked ?? (names === undefined || names.includes(reached) ? reached : names[0]!)
  if (names && !names.includes(host)) {
    throw invalidField('broker_host', `the broker's certificate is for ${names.join(', ')}, and an edge refuses it as ${host}`)
  }
  return host
}

type AcceptOrder = Pick<KitBody, 'site_id' | 'edge_id' | 'broker_host' | 'replace'>

/**
 * Accepts a box that waits, and writes the audit row.
 *
 * @returns the certificate, without what is secret
 * @throws Problem as `issueKit` does; unknown_box; conflict when it was decided on already
 */
export async function acceptBox(
  enrolment: Enrolment,
  actor: Pick<Actor, 'audit'>,
  fingerprint: string,
  order: AcceptOrder,
  host: string,
): Promise<{ serial: string; not_after: string }> {
  let issued: IssuedKit | undefined
  const issue = async ({ csr_pem }: PendingBox) => {
    issued = await issueKit(enrolment, actor, { ...order, csr_pem }, host)
    const { ca_pem, cert_pem, edge, acl } = issued.kit
    return { ca_pem, cert_pem, edge, acl }
  }
  await enrolment.pending.decide(fingerprint, { isOurs: enrolment.isOurs, issue })
  const { serial, not_after } = issued!
  return { serial, not_after }
}

/** Rejects a box that waits, and writes the audit row. @throws Problem unknown_box; conflict when it was decided on already */
export async function rejectBox(
  { pending, isOurs }: Enrolment,
  { audit }: Pick<Actor, 'audit'>,
  fingerprint: string,
): Promise<void> {
  const { site_id, edge_id, network } = await pending.decide(fingerprint, { isOurs })
  audit({ subject: fingerprint, after: { site_id, edge_id, network } })
}

/**
 * Renews the certificate of an edge and writes the audit row: over the edge's session, which returns nothing of it, or for a request.
 *
 * @throws Problem no_authority, conflict when its newest certificate is revoked, unknown_edge, invalid, or what the edge refuses
 */
export async function renewEdge(
  { authority, tenant_id, renewals }: Enrolment,
  { audit }: Pick<Actor, 'audit'>,
  edge: EdgeRecord,
  csr_pem?: string,
) {
  const { site_id, edge_id } = edge
  const address = { ...(tenant_id !== undefined && { tenant_id }), site_id, edge_id }
  const renewed: Renewed & Partial<NewCertificate> =
    csr_pem === undefined ? await renewals.renew(edge) : await authority.renew(address, csr_pem, { isProven: false })
  const { serial, not_after, cert_pem, ca_pem } = renewed
  const shown = { serial, not_after: formatInstant(not_after) }
  audit({ subject: edgeName(edge), after: { ...shown, over_session: csr_pem === undefined } })
  return cert_pem === undefined ? shown : { ...shown, cert_pem, ca_pem }
}

/** Revokes every valid certificate of an edge and writes the audit row. @throws Problem unknown_edge when it has none, no_authority */
export async function revokeEdge(
  { authority, tenant_id }: Issuing,
  { audit }: Pick<Actor, 'audit'>,
  { site_id, edge_id }: { site_id: string; edge_id: string },
): Promise<EdgeCertificate[]> {
  const revoked = await authority.revoke({ ...(tenant_id !== undefined && { tenant_id }), site_id, edge_id })
  if (revoked.length === 0) throw new Problem('unknown_edge', `edge ${edge_id} of site ${site_id} has no valid certificate`)
  audit({ subject: edgeName({ site_id, edge_id }), after: { revoked: revoked.map(({ serial }) => serial) } })
  return revoked
}

/** The certificates of the edges that are enrolled here. @throws Problem no_authority */
export async function certificatesOf({ authority, tenant_id }: Issuing): Promise<EdgeCertificate[]> {
  return (await authority.list()).filter(one => one.tenant_id === tenant_id)
}

/** A certificate as the API writes it. */
export const certificateView = ({ site_id, edge_id, serial, issued_at, not_after, revoked_at }: EdgeCertificate) => ({
  ...{ site_id, edge_id, serial },
  issued_at: formatInstant(issued_at),
  not_after: formatInstant(not_after),
  revoked_at: revoked_at === null ? null : formatInstant(revoked_at),
})

/** Makes the secret with which a device enrols once by EST as an edge, and writes the audit row. @throws Problem no_authority, too_many_boxes */
export async function makeSecret(
  { authority, secrets, tenant_id }: Enrolment,
  { audit }: Pick<Actor, 'audit'>,
  { site_id, edge_id }: EdgeKey,
): Promise<EstSecret> {
  await authority.fingerprint()
  const secret = await secrets.make({ tenant_id, site_id, edge_id })
  audit({ subject: secret.username, after: { expires_at: formatInstant(secret.expires_at) } })
  return secret
}

/** Makes the secret of an edge void, and writes the audit row. @throws Problem unknown_edge when none waits to be used */
export async function withdrawSecret(
  { secrets, tenant_id }: Enrolment,
  { audit }: Pick<Actor, 'audit'>,
  { site_id, edge_id }: EdgeKey,
): Promise<void> {
  const { username, expires_at } = await secrets.withdraw({ tenant_id, site_id, edge_id })
  audit({ subject: username, before: { expires_at: formatInstant(expires_at) } })
}
