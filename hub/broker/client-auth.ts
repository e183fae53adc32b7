/** Authenticates MQTT clients by certificate, at CONNECT and while their session lasts. */
import type { PeerCertificate } from 'node:tls'
import { type Identity, parseIdentity } from '#shared/core/auth/identity.ts'
import { serialOf } from '#shared/node/pki/certificate.ts'

/** `raw`: the certificate, DER. */
export type AuthenticatedClient = { identity: Identity; cn: string; serial: string; not_after: number; raw: Buffer }
type AuthResult = { ok: true; peer: AuthenticatedClient } | { ok: false; reason: string }

/**
 * @param certificate verified by TLS against the authority
 * @param clientId of the MQTT CONNECT packet
 */
export function authenticate(certificate: PeerCertificate, clientId: string): AuthResult {
  const cn: unknown = certificate.subject?.CN
  const identity = typeof cn === 'string' ? parseIdentity(cn) : undefined
  if (!identity)
    return { ok: false, reason: `the common name of the certificate is neither edge nor central: ${JSON.stringify(cn)}` }
  if (clientId !== cn) return { ok: false, reason: `client id ${JSON.stringify(clientId)} with the certificate of ${cn}` }
  const peer = {
    identity,
    cn: clientId,
    serial: serialOf(certificate.serialNumber),
    not_after: Date.parse(certificate.valid_to),
    raw: certificate.raw,
  }
  return { ok: true, peer }
}

/** @returns why the session must end now, or undefined when it may continue */
export function sessionEndReason(
  { serial, not_after }: AuthenticatedClient,
  revoked: ReadonlySet<string>,
  now: number,
): string | undefined {
  if (revoked.has(serial)) return 'its certificate is revoked'
  return not_after <= now ? 'its certificate has expired' : undefined
}
