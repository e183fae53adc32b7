/** Judges the certificate of a broker where the clock of this machine cannot: TLS knows no other time than the machine's. */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import { formatInstant } from '#shared/core/time.ts'
import { lifeOf } from './certificate.ts'

/** What OpenSSL finds when the only fault of a certificate may be that the clock is wrong. */
const CLOCK_CODES = ['CERT_NOT_YET_VALID', 'CERT_HAS_EXPIRED']
/** RFC 5280 4.2.1.12: authentication of a TLS server. */
const SERVER_AUTH = '1.3.6.1.5.5.7.3.1'

export const isClockDoubt = (error: unknown): boolean => CLOCK_CODES.includes((error as NodeJS.ErrnoException).code ?? '')

/** Whether one of the authorities has signed a certificate. @param ca_pem one or more authorities */
export function isIssuedBy(certificate: X509Certificate, ca_pem: string): boolean {
  const authorities = ca_pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return authorities
    .map(pem => new X509Certificate(pem))
    .some(ca => ca.ca && certificate.checkIssued(ca) && certificate.verify(ca.publicKey))
}

type Expected = {
  host: string
  /** The authorities of the kit, each of which is trusted by itself. */
  ca_pem: string
  /** Certificate of the edge itself. */
  cert_pem: string
  /** Times of which one may be the right one, ms since 1970 UTC; empty where nothing speaks for any. */
  times: readonly number[]
}

/**
 * Checks everything that TLS checks, and the time as far as it is known: the authority has stated that it was not before the
 * beginning of the edge's own certificate, so a certificate that had ended by then is never accepted.
 *
 * @param peer certificate of the broker, whose key the handshake has proved
 * @returns why it is refused; undefined when it is accepted
 */
export function refusalOfBroker(peer: X509Certificate, { host, ca_pem, cert_pem, times }: Expected): string | undefined {
  if (peer.ca || !peer.keyUsage?.includes(SERVER_AUTH)) return 'the certificate of the broker is not one of a server'
  if (!isIssuedBy(peer, ca_pem)) return 'the certificate of the broker was not issued by an authority of the kit'
  if ((isIP(host) ? peer.checkIP(host) : peer.checkHost(host)) === undefined) {
    return `the certificate of the broker is not for ${host}`
  }
  const { from, to } = lifeOf(peer.toString())
  const ended = `the certificate of the broker ended at ${formatInstant(to)}`
  if (to <= lifeOf(cert_pem).from) return `${ended}, before that of this edge began`
  if (times.length === 0 || times.some(now => from <= now && now < to)) return undefined
  return times.every(now => to <= now) ? ended : `the certificate of the broker begins at ${formatInstant(from)}`
}
