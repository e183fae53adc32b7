/** Frames of Modbus TCP (Modbus Messaging on TCP/IP Implementation Guide V1.0b, 3.1.3). */
import { EXCEPTION_BIT } from './pdu.ts'

/** Transaction id, protocol id, length, unit. */
const HEADER_BYTES = 7
/** Bounds of `length`: the unit, the function code, and 1 to 252 bytes after it. */
const LENGTH_MIN = 3
const LENGTH_MAX = 254

/**
 * @param id transaction id, 0..65535
 * @param request unit, function and the bytes after it, without checksum
 */
export function tcpFrame(id: number, request: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES - 1 + request.length)
  bytes[0] = id >> 8
  bytes[1] = id
  bytes[5] = request.length
  bytes.set(request, HEADER_BYTES - 1)
  return bytes
}

type TcpFrame =
  | { state: 'frame'; id: number; unit: number; pdu: Uint8Array; end: number }
  | { state: 'partial' }
  /** No frame begins here: the framing of the stream is lost. */
  | { state: 'garbled'; reason: string }

/** Units that mean the server itself (V1.0b, 4.4.2.2). Some servers answer with one of them whatever unit was asked. */
const SERVER_UNITS: readonly number[] = [0, 255]

/** @returns whether an answer with the transaction id of a request may come from its unit */
export const mayAnswerFor = (asked: number, answering: number): boolean => answering === asked || SERVER_UNITS.includes(answering)

/** Function and exception code. */
const EXCEPTION_BYTES = 2

/**
 * Some devices announce one byte more than an exception has.
 *
 * @param bytes everything that came of an incomplete frame
 * @returns the exception in it when it answers the request, otherwise undefined
 */
export function readOverstatedException(bytes: Uint8Array, asked: { id: number; unit: number }): Uint8Array | undefined {
  if (bytes.length !== HEADER_BYTES + EXCEPTION_BYTES || ((bytes[0]! << 8) | bytes[1]!) !== asked.id) return undefined
  if (!mayAnswerFor(asked.unit, bytes[6]!) || (bytes[HEADER_BYTES]! & EXCEPTION_BIT) === 0) return undefined
  return bytes.slice(HEADER_BYTES)
}

/** Reads the frame at the beginning of `bytes`; `end` is where the next one begins. */
export function readTcpFrame(bytes: Uint8Array): TcpFrame {
  if (bytes.length < 6) return { state: 'partial' }
  const protocol = (bytes[2]! << 8) | bytes[3]!
  const length = (bytes[4]! << 8) | bytes[5]!
  if (protocol !== 0) return { state: 'garbled', reason: `protocol id ${protocol} instead of 0` }
  if (length < LENGTH_MIN || length > LENGTH_MAX) return { state: 'garbled', reason: `a frame cannot have ${length} bytes` }
  const end = 6 + length
  if (bytes.length < end) return { state: 'partial' }
  return { state: 'frame', id: (bytes[0]! << 8) | bytes[1]!, unit: bytes[6]!, pdu: bytes.subarray(HEADER_BYTES, end), end }
}
