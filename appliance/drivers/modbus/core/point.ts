/**
 * A point of the catalogue on a Modbus device: `holding:100:float32:CDAB`, `input:5:int16`, `holding:7:bit:3`,
 * `holding:7:bits:4-7`, `coil:3`, `discrete:7`.
 */
import type { Conversion } from '../../../core/poll/conversion.ts'
import { type ByteOrder, LONG_ORDERS, SHORT_ORDERS, WORD_ORDERS, type WordOrder } from './byte-order.ts'

/** Registers of each format. */
export const REGISTER_FORMATS = { int16: 1, uint16: 1, int32: 2, uint32: 2, float32: 2, int64: 4, uint64: 4, float64: 4 } as const
export type RegisterFormat = keyof typeof REGISTER_FORMATS

export const TABLES = ['holding', 'input', 'coil', 'discrete'] as const
export type RegisterTable = (typeof TABLES)[number]

/** `address` from 0 as on the wire, `count` in registers or bits. */
export type RegisterRange = { table: RegisterTable; address: number; count: number }
/** `bit` is a coil or discrete input; `bits` are bits `low` to `high` of one register, 0 the least significant. */
export type ModbusAddress = RegisterRange &
  (
    | { format: RegisterFormat; order: ByteOrder }
    | { format: 'bit' }
    | { format: 'bits'; low: number; high: number; order: WordOrder }
  )
export type ModbusPoint = { address: ModbusAddress; conversion: Conversion }

export const ADDRESS_MAX = 65_535
const BIT_MAX = 15
const FORMAT_WORDS = [...Object.keys(REGISTER_FORMATS), 'bit', 'bits'].join(', ')

export const isBits = (table: RegisterTable): boolean => table === 'coil' || table === 'discrete'

/** @returns the address, or the reason why the text is not one */
export function parseModbusAddress(text: string, deviceOrder: WordOrder): ModbusAddress | string {
  const [table = '', addressText = '', format, ...more] = text.split(':')
  if (!isOneOf(TABLES, table)) return `"${table}" is not a table (${TABLES.join(', ')})`
  const address = Number(addressText)
  if (!/^\d+$/.test(addressText) || address > ADDRESS_MAX) return `"${addressText}" is not an address from 0 to ${ADDRESS_MAX}`
  if (isBits(table)) {
    return format === undefined ? { table, address, count: 1, format: 'bit' } : `a ${table} is one bit and has no format`
  }
  if (format === 'bit' || format === 'bits') return parseBits({ table, address, count: 1 }, format, more, deviceOrder)
  if (format === undefined || !isOneOf(Object.keys(REGISTER_FORMATS) as RegisterFormat[], format)) {
    return `"${format ?? ''}" is not a format (${FORMAT_WORDS})`
  }
  const [orderText = deviceOrder, ...rest] = more
  if (rest.length) return `"${text}" has more than four parts`
  const count = REGISTER_FORMATS[format]
  const order = count === 1 ? shortOrder(orderText) : orderText
  const orders: readonly ByteOrder[] = count === 4 ? [...WORD_ORDERS, ...LONG_ORDERS] : WORD_ORDERS
  if (!isOneOf(orders, order)) return `"${order}" is not a word order of ${format} (${orders.join(', ')})`
  if (address + count - 1 > ADDRESS_MAX) return `${format} at ${address} ends beyond the last register`
  return { table, address, count, format, order }
}

function parseBits(place: RegisterRange, format: 'bit' | 'bits', more: string[], deviceOrder: WordOrder): ModbusAddress | string {
  const [range = '', orderText = deviceOrder, ...rest] = more
  const order = shortOrder(orderText)
  const parts = (format === 'bit' ? /^(\d{1,2})$/ : /^(\d{1,2})-(\d{1,2})$/).exec(range)
  if (!parts)
    return `"${range}" is not ${format === 'bit' ? 'a bit: 0 to 15, 0 the least significant' : 'a range of bits such as 4-7'}`
  const low = Number(parts[1])
  const high = Number(parts[2] ?? parts[1])
  if (high > BIT_MAX || low > high) return `"${range}" must be within bits 0 to 15, the lower one first`
  if (rest.length) return `a ${format} address has at most five parts`
  if (!isOneOf(WORD_ORDERS, order)) return `"${order}" is not a word order (${WORD_ORDERS.join(', ')})`
  return { ...place, format: 'bits', low, high, order }
}

const shortOrder = (text: string): string => SHORT_ORDERS[text] ?? text
const isOneOf = <T extends string>(list: readonly T[], text: string): text is T => (list as readonly string[]).includes(text)
