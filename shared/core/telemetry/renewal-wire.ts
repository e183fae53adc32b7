/**
 * Renewal of an edge's certificates over its session. For that of the session the hub asks for a request, for a new key, and sends back
 * the certificate; for that of the edge's HTTPS port it asks for the certificate and sends back a new one for the same key. The
 * operations go over the broker alone, because its session shows which edge answers.
 */
import { type Static, type TSchema, Type } from '@sinclair/typebox'

/** Longest certificate request, characters: one of a P-256 key has 500. */
export const CSR_MAX = 10_000
/** Longest list of authorities, characters: those of two overlapping ones, each with an intermediate one, have 3,000. */
const CA_MAX = 12_000
const CERT_MAX = 4000
const TOKEN_MAX = 200

const strict = <P extends Record<string, TSchema>>(properties: P) => Type.Object(properties, { additionalProperties: false })
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

const CertificateRequest = strict({ csr_pem: text(CSR_MAX) })

/** `ca_pem`: every authority that the edge trusts from now on. `token`: with it the hub shows the edge who it is. */
const NewCertificate = strict({ cert_pem: text(CERT_MAX), ca_pem: text(CA_MAX), token: Type.Optional(text(TOKEN_MAX)) })
export type NewCertificate = Static<typeof NewCertificate>

const PortCertificate = strict({ cert_pem: text(CERT_MAX) })

const Installed = strict({ ok: Type.Literal(true), serial: text(64) })

export const RENEWAL = {
  certificate_request: { request: strict({}), answer: CertificateRequest, status: 200 },
  certificate_install: { request: NewCertificate, answer: Installed, status: 200 },
  port_certificate: { request: strict({}), answer: PortCertificate, status: 200 },
  port_certificate_install: { request: PortCertificate, answer: Installed, status: 200 },
} as const
export type RenewalOperation = keyof typeof RENEWAL
