/** What a certificate says, read by Node alone: the library that makes certificates takes 9 MB in an appliance. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { CertificateLife } from '#shared/core/auth/certificate-life.ts'

/** @param cert_pem the first certificate counts */
export function lifeOf(cert_pem: string): CertificateLife {
  const { validFromDate, validToDate } = new X509Certificate(cert_pem)
  return { from: validFromDate.getTime(), to: validToDate.getTime() }
}

/** A serial as node:tls shows it: upper-case hex without leading zeros. */
export const serialOf = (hex: string): string => hex.toUpperCase().replace(/^0+(?=.)/, '')

/** Whether the first certificate of a text belongs to a private key; false too for what is no certificate or no key. */
export function isPair(cert_pem: string, key_pem: string): boolean {
  try {
    return new X509Certificate(cert_pem).checkPrivateKey(createPrivateKey(key_pem))
  } catch {
    return false
  }
}
