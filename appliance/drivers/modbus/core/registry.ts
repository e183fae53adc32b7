/**
 * Reads the VOLTTRON registry configuration of a Modbus device.
 *
 * @source VOLTTRON documentation, "Modbus Driver", registry configuration file; the table of a row, and the effect of Mixed
 *   Endian, from volttron-lib-modbus-driver (interfaces/modbus.py)
 */
import { nameTable } from '#shared/core/name-table.ts'
import { type Cells, readRegistry, type Registry, type RegistryCells, unitNamed } from '../../../core/catalogue/registry.ts'
import type { PointTable } from '../../../core/catalogue/table.ts'
import { parseModbusAddress } from './point.ts'

/** `Writable` decides the table: a writable row is a coil or holding register, any other a discrete input or input register. */
export const readModbusRegistry = (table: PointTable): Registry =>
  readRegistry(table, ['Modbus Register', 'Point Address'], readModbusCells)

const FORMAT_WORDS = 'is not a format of one value with 16, 32 or 64 bits, for example BOOL, >f, >H or <l'
/** Python's struct formats with standard sizes (its manual, "Format Characters"). */
const STRUCT_FORMATS = nameTable<string>({
  h: 'int16',
  H: 'uint16',
  i: 'int32',
  I: 'uint32',
  l: 'int32',
  L: 'uint32',
  q: 'int64',
  Q: 'uint64',
  f: 'float32',
  d: 'float64',
})

function readModbusCells(cells: Cells): RegistryCells {
  const isWritten = cells('Writable').toLowerCase() === 'true'
  const place = cells('Point Address')
  const register = cells('Modbus Register')
  const struct = /^([<>!=@]?)([hHiIlLqQfd])$/.exec(register)
  const isBit = register.toLowerCase() === 'bool'
  if (!isBit && !struct) return { column: 'Modbus Register', message: `"${register}" ${FORMAT_WORDS}` }
  const [, sign = '', letter = ''] = struct ?? []
  if (/[lL]/.test(letter) && /^@?$/.test(sign)) {
    return {
      column: 'Modbus Register',
      message: `"${register}" has 32 or 64 bits depending on the machine; write >${letter} or <${letter}`,
    }
  }
  const format = STRUCT_FORMATS[letter] ?? ''
  const table = isBit ? (isWritten ? 'coil' : 'discrete') : isWritten ? 'holding' : 'input'
  const address = isBit ? `${table}:${place}` : `${table}:${place}:${format}:${orderOf(sign, cells('Mixed Endian'))}`
  const parsed = parseModbusAddress(address, 'ABCD')
  if (typeof parsed === 'string') return { column: 'Point Address', message: parsed }
  return isBit ? { address, kind: 'bool', unit: 'bool' } : { address, kind: 'number', ...unitNamed(cells('Units')) }
}

/** `<` reverses the bytes of the value; Mixed Endian reverses the registers first. Without a sign the order is that of a PC. */
function orderOf(sign: string, mixed: string): string {
  const isLittle = sign !== '>' && sign !== '!'
  const isMixed = mixed.toLowerCase() === 'true'
  if (isLittle) return isMixed ? 'BADC' : 'DCBA'
  return isMixed ? 'CDAB' : 'ABCD'
}
