import assert from 'node:assert/strict'
import { type Format, FORMATS, type WordOrder } from './point.ts'

/**
 * Reads one value from registers.
 *
 * @param bytes [2 × registers] as they came
 * @returns the number; 64-bit integers beyond 2^53 are rounded to the nearest double
 */
export function decodeRegisters(bytes: Uint8Array, format: Format, order: WordOrder): number {
  assert.equal(bytes.length, 2 * FORMATS[format])
  const ordered = arrange(bytes, order)
  const view = new DataView(ordered.buffer)
  switch (format) {
    case 'int16':
      return view.getInt16(0)
    case 'uint16':
      return view.getUint16(0)
    case 'int32':
      return view.getInt32(0)
    case 'uint32':
      return view.getUint32(0)
    case 'float32':
      return view.getFloat32(0)
    case 'int64':
      return Number(view.getBigInt64(0))
    case 'uint64':
      return Number(view.getBigUint64(0))
    case 'float64':
      return view.getFloat64(0)
  }
}

/** A copy, most significant byte first. */
function arrange(bytes: Uint8Array, order: WordOrder): Uint8Array<ArrayBuffer> {
  const turnsWords = order === 'CDAB' || order === 'DCBA'
  const turnsBytes = order === 'BADC' || order === 'DCBA'
  const last = bytes.length / 2 - 1
  return Uint8Array.from(bytes, (_, i) => {
    const word = turnsWords ? last - (i >> 1) : i >> 1
    return bytes[2 * word + (turnsBytes ? 1 - (i & 1) : i & 1)]!
  })
}
