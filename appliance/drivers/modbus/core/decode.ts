import assert from 'node:assert/strict'
import { type ByteOrder, positionsOf } from './byte-order.ts'
import { type RegisterFormat, REGISTER_FORMATS, type ModbusAddress, type RegisterRange } from './point.ts'

/** A value, most significant byte first; overwritten by each call. */
const ordered = new Uint8Array(8)
const scratch = new DataView(ordered.buffer)

/**
 * Reads one value from registers.
 *
 * @param bytes received registers, 2 bytes each
 * @param from position of the value, bytes
 * @returns the value; a bigint for 64-bit integers
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

/** @returns bit `i` of a block of coils or discrete inputs; bit 0 is the lowest bit of the first byte (V1.1b3, 6.1) */
export const decodeBit = (bytes: Uint8Array, i: number): 0 | 1 => (((bytes[i >> 3] ?? 0) >> (i & 7)) & 1) as 0 | 1

/** @returns the bits `low` to `high` of one register as an unsigned number; bit 0 is the least significant */
export function decodeBits(bytes: Uint8Array, low: number, high: number, order: ByteOrder, from = 0): number {
  const word = decodeRegisters(bytes, 'uint16', order, from) as number
  return (word >> low) & ((1 << (high - low + 1)) - 1)
}

/**
 * Decodes the value of a point from a block that contains it.
 *
 * @param bytes received registers or bits of the block
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

/** @returns whether a whole number must be rounded to a 64-bit float, which JSON, SQLite and JavaScript use */
export const isRounded = (raw: number | bigint): boolean => typeof raw === 'bigint' && BigInt(Number(raw)) !== raw
