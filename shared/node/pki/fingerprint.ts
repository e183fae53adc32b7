/** Fingerprints that a person compares on two screens. */
import 'reflect-metadata'
import { createHash, X509Certificate } from 'node:crypto'
import { Pkcs10CertificateRequest } from '@peculiar/x509'

/** Hex digits of a fingerprint: 128 bits, so nobody makes another key with the same one. */
const DIGITS = 32

const fingerprint = (bytes: ArrayBuffer | Buffer): string =>
  createHash('sha256').update(new Uint8Array(bytes)).digest('hex').slice(0, DIGITS)

/** Of the key of a certificate request: the beginning of the SHA-256 of its SubjectPublicKeyInfo. @throws Error when it is none */
export const requestFingerprint = (csr_pem: string): string =>
  fingerprint(new Pkcs10CertificateRequest(csr_pem).publicKey.rawData)

/** Of all authorities of a kit together, in their order: one more or another one gives another fingerprint. */
export function authorityFingerprint(ca_pem: string): string {
  const found = ca_pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return fingerprint(Buffer.concat(found.map(pem => new X509Certificate(pem).raw)))
}

/** In groups of four. */
export const spaced = (fingerprintHex: string): string => fingerprintHex.match(/.{1,4}/g)?.join(' ') ?? ''
