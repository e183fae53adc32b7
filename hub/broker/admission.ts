/** Who may connect: one decision for the handshake, for CONNECT and for sessions that live already. */
import type { PeerCertificate } from 'node:tls'
import { type Identity, parseIdentity } from '#shared/core/auth/identity.ts'
import { serialOf } from '#shared/node/pki/pki.ts'

export type Guest = { identity: Identity; cn: string; serial: string; not_after: number }
type Admission = { ok: true; guest: Guest } | { ok: false; reason: string }

/**
 * @param certificate what TLS verified against the authority
 * @param clientId of the MQTT CONNECT packet
 */
export function admit(certificate: PeerCertificate, clientId: string): Admission {
  const cn: unknown = certificate.subject?.CN
  const identity = typeof cn === 'string' ? parseIdentity(cn) : undefined
  if (!identity) return { ok: false, reason: `the certificate's name is neither edge nor central: ${JSON.stringify(cn)}` }
  if (clientId !== cn) return { ok: false, reason: `client id ${JSON.stringify(clientId)} with the certificate of ${cn}` }
  const guest = {
    identity,
    cn: clientId,
    serial: serialOf(certificate.serialNumber),
    not_after: Date.parse(certificate.valid_to),
  }
  return { ok: true, guest }
}

/** @returns why a guest must go now, or undefined when it may stay */
export function overstays({ serial, not_after }: Guest, revoked: ReadonlySet<string>, now: number): string | undefined {
  if (revoked.has(serial)) return 'its certificate is revoked'
  return not_after <= now ? 'its certificate has ended' : undefined
}
