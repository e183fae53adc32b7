/** Fingerprints that a person compares on two screens. */
import { createHash, createPublicKey, X509Certificate } from 'node:crypto'

/** Hex digits of a fingerprint: 128 bits, so nobody makes another key with the same one. */
const DIGITS = 32

/** @returns the beginning of the SHA-256 of `bytes`, hex */
export const fingerprintOf = (bytes: ArrayBuffer | Buffer): string =>
  createHash('sha256').update(new Uint8Array(bytes)).digest('hex').slice(0, DIGITS)

/** Of the public part of a private key, PEM, as SubjectPublicKeyInfo. @throws Error when it is none */
export const keyFingerprint = (key_pem: string): string =>
  fingerprintOf(createPublicKey(key_pem).export({ type: 'spki', format: 'der' }))

/** Of all authorities of a kit together, in their order: one more or another one gives another fingerprint. */
export function authorityFingerprint(ca_pem: string): string {
  const found = ca_pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  return fingerprintOf(Buffer.concat(found.map(pem => new X509Certificate(pem).raw)))
}

/** In groups of four. */
export const spaced = (fingerprintHex: string): string => fingerprintHex.match(/.{1,4}/g)?.join(' ') ?? ''
