/** The token in forms: bound to a session, and written differently in every answer. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const BYTES = 32

/**
 * Answers are compressed, and the size of a compressed page would reveal how much of a text that somebody reflects into it
 * is the same as the token. So the token is written as a random pad and the token XOR the pad: it never appears twice.
 *
 * @source Gluck, Harris, Prado: BREACH, 2013, "Masking secrets"
 */
export function formTokens(key: Uint8Array) {
  const tokenOf = (session: string) => createHmac('sha256', key).update(`form ${session}`).digest()
  return {
    make(session: string): string {
      const pad = randomBytes(BYTES)
      return Buffer.concat([pad, xor(tokenOf(session), pad)]).toString('base64url')
    },
    fits(session: string, text: string): boolean {
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length !== 2 * BYTES) return false
      return timingSafeEqual(xor(bytes.subarray(BYTES), bytes.subarray(0, BYTES)), tokenOf(session))
    },
  }
}

const xor = (a: Buffer, b: Buffer): Buffer => Buffer.from(a.map((byte, i) => byte ^ b[i]!))
