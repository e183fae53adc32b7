/** Frames of Modbus RTU (Modbus over Serial Line V1.02, 2.5.1 and 6.2.2): unit, request or answer, checksum. */
import { bytesDue, CODES, EXCEPTION_BIT, type ModbusReply, REQUEST_BYTES } from './pdu.ts'
import type { RegisterRange } from './point.ts'

export const CRC_BYTES = 2
const EXCEPTION_BYTES = 3 + CRC_BYTES
/** Reversed polynomial of the checksum. */
const POLYNOMIAL = 0xa001
/** Bits of a character on the line: start bit, eight data bits, parity or second stop bit, stop bit. */
const BITS_PER_BYTE = 11

const CRC_TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >> 1) ^ POLYNOMIAL : crc >> 1
  return crc
})

/** @returns the checksum of the bytes `[from, to)`; on the line its low byte is first */
export function crc16(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0xffff
  for (let i = from; i < to; i++) crc = (crc >> 8) ^ CRC_TABLE[(crc ^ bytes[i]!) & 0xff]!
  return crc
}

/**
 * Finds a complete answer with a valid checksum, also after noise or an echo of the request.
 *
 * @param bytes received so far
 * @returns the answer and its end; undefined when it is not complete yet
 */
export function findRtuReply(bytes: Uint8Array, unit: number, place: RegisterRange) {
  const code = CODES[place.table]
  const due = bytesDue(place)
  for (let at = 0; at + EXCEPTION_BYTES <= bytes.length; at++) {
    if (bytes[at] !== unit) continue
    const isException = bytes[at + 1] === (code | EXCEPTION_BIT)
    if (!isException && (bytes[at + 1] !== code || bytes[at + 2] !== due)) continue
    const end = at + (isException ? EXCEPTION_BYTES : 3 + due + CRC_BYTES)
    if (end > bytes.length || !isSound(bytes, at, end)) continue
    const reply: Exclude<ModbusReply, { state: 'garbled' }> = isException
      ? { state: 'exception', code: bytes[at + 2]! }
      : { state: 'data', bytes: bytes.slice(at + 3, at + 3 + due) }
    return { reply, end }
  }
  return undefined
}

function isSound(bytes: Uint8Array, from: number, end: number): boolean {
  const crc = crc16(bytes, from, end - CRC_BYTES)
  return bytes[end - 2] === (crc & 0xff) && bytes[end - 1] === crc >> 8
}

/** @returns the transmission time of a request for `place` and its answer, ms */
export const wireMs = (place: RegisterRange, baud: number): number =>
  ((1 + REQUEST_BYTES + CRC_BYTES + 3 + bytesDue(place) + CRC_BYTES) * BITS_PER_BYTE * 1000) / baud

/** @returns the silence between two frames, ms: 3.5 characters, and 1.75 ms above 19,200 baud (V1.02, 2.5.1.1) */
export const frameGapMs = (baud: number): number => (baud > 19_200 ? 1.75 : (3.5 * BITS_PER_BYTE * 1000) / baud)
