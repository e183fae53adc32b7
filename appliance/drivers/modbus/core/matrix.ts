/** Decodes the same bytes in every format and order, so that a person can recognise the right one. */
import { decodeRegisters, isRounded } from './decode.ts'
import { type ByteOrder, LONG_ORDERS, spellOrder, WORD_ORDERS } from './byte-order.ts'
import { type RegisterFormat, REGISTER_FORMATS, type RegisterTable } from './point.ts'

export type RegisterRow = {
  address: number
  /** Four hexadecimal digits. */
  hex: string
  uint16: number
  int16: number
  /** Bit 15 first, in groups of four bits. */
  bits: string
}

export type MatrixValue = {
  /** First register. */
  address: number
  format: RegisterFormat
  /** One letter for each byte in the order of arrival. */
  order: string
  /** Null when the number cannot be written in JSON. */
  value: number | null
  /** All digits, also of whole numbers that `value` rounds. */
  text: string
  rounded: boolean
  /** The point address that reads this value. */
  point_address: string
}

/** Distinct orders of a value by its number of registers. */
const ORDERS: Record<1 | 2 | 4, readonly ByteOrder[]> = {
  1: ['ABCD', 'BADC'],
  2: WORD_ORDERS,
  4: [...WORD_ORDERS, ...LONG_ORDERS.slice(WORD_ORDERS.length)],
}

/** @param bytes received registers, the first at `address` */
export function listRegisters(bytes: Uint8Array, address: number): RegisterRow[] {
  return Array.from({ length: bytes.length / 2 }, (_, i) => {
    const uint16 = decodeRegisters(bytes, 'uint16', 'ABCD', 2 * i) as number
    const int16 = decodeRegisters(bytes, 'int16', 'ABCD', 2 * i) as number
    const bits = uint16.toString(2).padStart(16, '0').match(/.{4}/g)!.join(' ')
    return { address: address + i, hex: uint16.toString(16).padStart(4, '0'), uint16, int16, bits }
  })
}

/**
 * Decodes every value that begins at register `at` and ends within the bytes.
 *
 * @param bytes registers as they came, the first from `address`
 * @param at `address` <= at
 * @returns by the order of `FORMATS`, each format's orders side by side
 */
export function registerMatrix(bytes: Uint8Array, table: RegisterTable, address: number, at: number): MatrixValue[] {
  const from = 2 * (at - address)
  const formats = (Object.keys(REGISTER_FORMATS) as RegisterFormat[]).filter(
    format => from + 2 * REGISTER_FORMATS[format] <= bytes.length,
  )
  return formats.flatMap(format =>
    ORDERS[REGISTER_FORMATS[format]].map(order => {
      const raw = decodeRegisters(bytes, format, order, from)
      const value = Number(raw)
      const spelling = spellOrder(order, REGISTER_FORMATS[format])
      return {
        address: at,
        format,
        order: spelling,
        value: Number.isFinite(value) ? value : null,
        text: textOf(raw, format),
        rounded: isRounded(raw),
        point_address: `${table}:${at}:${format}:${spelling}`,
      }
    }),
  )
}

function textOf(raw: number | bigint, format: RegisterFormat): string {
  if (typeof raw === 'bigint') return String(raw)
  if (Number.isNaN(raw)) return 'not a number'
  if (!Number.isFinite(raw)) return raw > 0 ? 'infinite' : '-infinite'
  return format === 'float32' ? shortest(raw) : String(raw)
}

/** @returns the fewest digits that identify this float32 */
function shortest(value: number): string {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits))
    if (Math.fround(short) === value) return String(short)
  }
  return String(Number(value.toPrecision(9)))
}
