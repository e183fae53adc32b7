/** Bytes of a message body: JSON, deflated behind one leading byte when it is long (contract §8). */
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { isTooDeep, JSON_DEPTH_MAX } from '../json-depth.ts'

/** Largest size of a body after inflation, bytes. */
export const MESSAGE_MAX = 256 * 1024
export const METADATA_MAX = 4 * 1024 * 1024
export const STATUS_MAX = 128 * 1024
export const SMALL_MAX = 16 * 1024

/** A body of at most this many bytes is sent as it is. */
const PLAIN_MAX = 1024
const DEFLATED = 0x01
const BRACE = 0x7b

export type Decoded<T> = { ok: true; value: T } | { ok: false; reason: string }

/** @returns the bytes to publish */
export function packBody(body: object): Buffer {
  const text = Buffer.from(JSON.stringify(body))
  return text.length <= PLAIN_MAX ? text : Buffer.concat([Buffer.of(DEFLATED), deflateRawSync(text)])
}

const viewOf = ({ buffer, byteOffset, length }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, length)
const inflate = (bytes: Uint8Array, maxBytes: number): Buffer => inflateRawSync(bytes, { maxOutputLength: maxBytes })
const refuse = (reason: string) => ({ ok: false as const, reason })

/** Reads a body. @param maxBytes longest JSON text */
export function unpackBody(bytes: Uint8Array, maxBytes: number): Decoded<Record<string, unknown>> {
  const text = unpackText(bytes, maxBytes)
  return text.ok ? parseBody(text.value) : text
}

/**
 * Reads the text of a body. It stops inflating at the limit, so a decompression bomb costs no more than a valid message.
 *
 * @param maxBytes longest JSON text
 */
export function unpackText(bytes: Uint8Array, maxBytes: number): Decoded<string> {
  if (bytes.length === 0) return refuse('the body is empty')
  if (bytes.length > maxBytes) return refuse(`the body has ${bytes.length} bytes, more than ${maxBytes}`)
  if (bytes[0] !== BRACE && bytes[0] !== DEFLATED)
    return refuse(`the body begins with byte ${bytes[0]}, neither JSON nor deflated`)
  try {
    return { ok: true, value: (bytes[0] === BRACE ? viewOf(bytes) : inflate(bytes.subarray(1), maxBytes)).toString() }
  } catch (error) {
    const tooLong = (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
    return refuse(tooLong ? `the body inflates to more than ${maxBytes} bytes` : 'the body does not inflate')
  }
}

export function parseBody(text: string): Decoded<Record<string, unknown>> {
  if (isTooDeep(text)) return refuse(`the body is nested deeper than ${JSON_DEPTH_MAX}`)
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return { ok: true, value: value as Record<string, unknown> }
    }
  } catch {
    return refuse('the body is not JSON')
  }
  return refuse('the body is not a JSON object')
}
