/** Frames of Modbus TCP (Modbus Messaging on TCP/IP Implementation Guide V1.0b, 3.1.3). */

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
