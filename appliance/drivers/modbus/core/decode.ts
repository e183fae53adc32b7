import assert from 'node:assert/strict'
import { type ByteOrder, positionsOf } from './byte-order.ts'
import { type RegisterFormat, REGISTER_FORMATS, type ModbusAddress, type RegisterRange } from './point.ts'

/** A value most significant byte first; used up within one call. */
const ordered = new Uint8Array(8)
const scratch = new DataView(ordered.buffer)

/**
 * Reads one value from registers.
 *
 * @param bytes registers as they came, 2 bytes each
 * @param from where the value begins, in bytes
 * @returns the value; 64-bit integers whole
 */
export function decodeRegisters(bytes: Uint8Array, format: RegisterFormat, order: ByteOrder, from = 0): number | bigint {
  const registers = REGISTER_FORMATS[format]
  assert(from + 2 * registers <= bytes.length)
  const positions = positionsOf(order, registers)
  for (let i = 0; i < positions.length; i++) ordered[i] = bytes[from + positions[i]!]!
  switch (format) {
    case 'int16':
      return scratch.getInt16(0)
    case 'uint16':
      return scratch.getUint16(0)
    case 'int32':
      return scratch.getInt32(0)
    case 'uint32':
      return scratch.getUint32(0)
    case 'float32':
      return scratch.getFloat32(0)
    case 'int64':
      return scratch.getBigInt64(0)
    case 'uint64':
      return scratch.getBigUint64(0)
    case 'float64':
      return scratch.getFloat64(0)
  }
}

/** Bit `i` of a coil or discrete input block: the lowest bit of the first byte is the first (V1.1b3, 6.1). */
export const decodeBit = (bytes: Uint8Array, i: number): 0 | 1 => (((bytes[i >> 3] ?? 0) >> (i & 7)) & 1) as 0 | 1

/** The bits `low` to `high` of one register, 0 the least significant, as an unsigned number. */
export function decodeBits(bytes: Uint8Array, low: number, high: number, order: ByteOrder, from = 0): number {
  const word = decodeRegisters(bytes, 'uint16', order, from) as number
  return (word >> low) & ((1 << (high - low + 1)) - 1)
}

/**
 * Reads what a point asks for out of a block that holds it whole.
 *
 * @param bytes the block's registers or bits as they came
 */
export function decodePoint(bytes: Uint8Array, block: RegisterRange, address: ModbusAddress): number | bigint {
  const from = address.address - block.address
  switch (address.format) {
    case 'bit':
      return decodeBit(bytes, from)
    case 'bits':
      return decodeBits(bytes, address.low, address.high, address.order, 2 * from)
    default:
      return decodeRegisters(bytes, address.format, address.order, 2 * from)
  }
}

/** Whether a whole number has to be rounded to be a number of JSON, of SQLite and of JavaScript. */
export const isRounded = (raw: number | bigint): boolean => typeof raw === 'bigint' && BigInt(Number(raw)) !== raw
