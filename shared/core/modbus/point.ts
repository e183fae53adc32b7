/** A point of the catalogue on a Modbus device: `holding:100:float32:CDAB`, `input:5:int16`, `coil:3`, `discrete:7`. */
import type { Conversion } from '../poll/conversion.ts'

/** Registers that each format takes. */
export const FORMATS = { int16: 1, uint16: 1, int32: 2, uint32: 2, float32: 2, int64: 4, uint64: 4, float64: 4 } as const
export type Format = keyof typeof FORMATS

/**
 * The order in which a device sends the bytes of 1-2-3-4: ABCD as they are, CDAB with its words turned round, BADC with
 * the bytes of each word turned round, DCBA with both. 64-bit values go by the same rule, 16-bit ones by their bytes.
 */
export const WORD_ORDERS = ['ABCD', 'CDAB', 'BADC', 'DCBA'] as const
export type WordOrder = (typeof WORD_ORDERS)[number]

export const TABLES = ['holding', 'input', 'coil', 'discrete'] as const
export type Table = (typeof TABLES)[number]

/** What is read: `address` from 0 as on the wire, `count` in registers or bits. */
export type Place = { table: Table; address: number; count: number }
export type ModbusAddress = Place & ({ format: Format; order: WordOrder } | { format: 'bit' })
export type ModbusPoint = { address: ModbusAddress; conversion: Conversion }

const ADDRESS_MAX = 65_535

/** @returns the address, or in words what is wrong with the text */
export function parseModbusAddress(text: string, deviceOrder: WordOrder): ModbusAddress | string {
  const [table = '', addressText = '', format, order, ...more] = text.split(':')
  if (!isOneOf(TABLES, table)) return `"${table}" is no table (${TABLES.join(', ')})`
  const address = Number(addressText)
  if (!/^\d+$/.test(addressText) || address > ADDRESS_MAX) return `"${addressText}" is no address in 0..${ADDRESS_MAX}`
  if (more.length) return `"${text}" has more than four parts`
  if (table === 'coil' || table === 'discrete') {
    return format === undefined ? { table, address, count: 1, format: 'bit' } : `a ${table} is one bit and takes no format`
  }
  if (format === undefined || !isOneOf(Object.keys(FORMATS) as Format[], format)) {
    return `"${format ?? ''}" is no format (${Object.keys(FORMATS).join(', ')})`
  }
  if (order !== undefined && !isOneOf(WORD_ORDERS, order)) return `"${order}" is no word order (${WORD_ORDERS.join(', ')})`
  const count = FORMATS[format]
  if (address + count - 1 > ADDRESS_MAX) return `${format} at ${address} runs past the last register`
  return { table, address, count, format, order: order ?? deviceOrder }
}

const isOneOf = <T extends string>(list: readonly T[], text: string): text is T => (list as readonly string[]).includes(text)
