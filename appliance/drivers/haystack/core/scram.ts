/**
 * SCRAM-SHA-256 without channel binding: the messages of the client, and the check of the server's answers. The caller computes
 * the salted password (PBKDF2), because that is slow.
 *
 * @source RFC 5802 sections 3, 5.1 and 7; RFC 7677 (SHA-256, at least 4096 iterations)
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

export const SCRAM_HASH = 'sha256'
export const SCRAM_KEY_BYTES = 32
const ITERATIONS_MIN = 4096
/** 1,000,000 iterations take half a second of one core; a server that asks for more is refused. */
const ITERATIONS_MAX = 1_000_000
const GS2_HEADER = 'n,,'
/** The GS2 header in base64; the final message repeats it. */
const CHANNEL = 'biws'

type ServerFirst = { text: string; nonce: string; salt: Buffer; iterations: number }

const hmac = (key: Buffer, text: string): Buffer => createHmac(SCRAM_HASH, key).update(text).digest()

/** @returns `bare`, the part that the proof covers, and `message`, the text to send */
export function clientFirst(username: string, nonce: string): { bare: string; message: string } {
  const name = username.replaceAll('=', '=3D').replaceAll(',', '=2C') // RFC 5802 5.1, saslname
  const bare = `n=${name},r=${nonce}`
  return { bare, message: GS2_HEADER + bare }
}

/**
 * @param nonce the nonce of the client; the server's nonce must begin with it
 * @returns the server's first message, or the reason why it is invalid
 */
export function readServerFirst(text: string, nonce: string): ServerFirst | string {
  const { r, s, i } = attributes(text)
  if (r === undefined || s === undefined || i === undefined) return 'the server sent no nonce, salt or iteration count'
  if (!r.startsWith(nonce) || r === nonce) return "the server's nonce does not begin with ours"
  const iterations = Number(i)
  if (!/^\d+$/.test(i) || iterations < ITERATIONS_MIN || iterations > ITERATIONS_MAX) {
    return `the server asks for ${i} iterations; ${ITERATIONS_MIN} to ${ITERATIONS_MAX} are accepted`
  }
  const salt = Buffer.from(s, 'base64')
  return salt.length ? { text, nonce: r, salt, iterations } : 'the server sent an empty salt'
}

/**
 * @param bare of `clientFirst`
 * @param saltedPassword PBKDF2-HMAC-SHA-256 of the password with the server's salt and iterations, 32 bytes
 * @returns the final message, and the signature that a server must send to prove that it knows the password
 */
export function clientFinal(bare: string, server: ServerFirst, saltedPassword: Buffer): { message: string; signature: Buffer } {
  const withoutProof = `c=${CHANNEL},r=${server.nonce}`
  const signed = `${bare},${server.text},${withoutProof}`
  const clientKey = hmac(saltedPassword, 'Client Key')
  const clientSignature = hmac(createHash(SCRAM_HASH).update(clientKey).digest(), signed)
  const proof = Buffer.from(clientKey.map((byte, i) => byte ^ clientSignature[i]!))
  return {
    message: `${withoutProof},p=${proof.toString('base64')}`,
    signature: hmac(hmac(saltedPassword, 'Server Key'), signed),
  }
}

/** @returns the reason why the server is not authenticated; undefined when it is */
export function checkServerFinal(text: string, signature: Buffer): string | undefined {
  const { v, e } = attributes(text)
  if (e !== undefined) return `the server refuses the login: ${e}`
  const given = Buffer.from(v ?? '', 'base64')
  const isRight = given.length === signature.length && timingSafeEqual(given, signature)
  return isRight ? undefined : 'the server did not prove that it knows the password'
}

/** Parses `r=...,s=...`: one letter, `=`, and the value up to the next comma. */
const attributes = (text: string): Record<string, string> =>
  Object.fromEntries(text.split(',').map(part => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]))
