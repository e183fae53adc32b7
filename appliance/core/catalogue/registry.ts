/**
 * Reads VOLTTRON registry configurations: the points of one BACnet or one Modbus device.
 *
 * @source VOLTTRON documentation, "BACnet Driver" and "Modbus Driver", registry configuration file; which table of a Modbus
 *   device a row means, and what Mixed Endian does, from volttron-lib-modbus-driver (interfaces/modbus.py)
 */
import { notOneValue, formatTarget, isText, parseTarget, PRESENT_VALUE, type Target } from '#shared/core/bacnet/object.ts'
import { engineeringUnit, type KnownUnit } from '../../drivers/bacnet/core/engineering-units.ts'
import { POINT_TYPES } from '../../drivers/bacnet/core/device-scan.ts'
import { parseModbusAddress } from '../../drivers/modbus/core/point.ts'
import type { PointKind } from '#shared/core/model/model.ts'
import { unitCode } from '#shared/core/model/unit.ts'
import { cellOf, headerKey, isBlank, type Refusal, type Table } from './table.ts'

/** A point of the registry's device; it has no id yet. */
export type RegistryPoint = {
  line: number
  name: string
  address: string
  kind: PointKind
  unit: string
  scale?: number
  offset?: number
  /** Whether the device is asked to tell changes. */
  cov?: boolean
}
export type Registry = { points: RegistryPoint[]; refused: Refusal[]; notes: Refusal[] }

const NAME = 'Volttron Point Name'
const NAME_MAX = 200

type Cells = (column: string) => string
/** A point without its line and name, or the column in which it is wrong and why. */
type Read = Omit<RegistryPoint, 'line' | 'name'> | { column: string; message: string }

/** Writable and Write Priority are not taken: nothing here writes. */
export const readBacnetRegistry = (table: Table): Registry =>
  readRegistry(table, ['BACnet Object Type', 'Property', 'Index'], bacnetPoint)

/** `Writable` tells the table: a row that may be written is a coil or holding register, another a discrete or input one. */
export const readModbusRegistry = (table: Table): Registry =>
  readRegistry(table, ['Modbus Register', 'Point Address'], modbusPoint)

function readRegistry({ file, rows }: Table, needed: string[], read: (cells: Cells) => Read): Registry {
  const [header, ...body] = rows.filter(row => !isBlank(row))
  const refused: Refusal[] = []
  const notes: Refusal[] = []
  const points: RegistryPoint[] = []
  const keys = header?.cells.map(headerKey) ?? []
  const missing = [NAME, ...needed].filter(column => !keys.includes(headerKey(column)))
  if (missing.length) {
    const message = `the first row names no such column; it has ${header?.cells.join(', ') || 'nothing'}`
    return { points, notes, refused: missing.map(column => ({ file, line: header?.line ?? 1, column, message })) }
  }
  const lines = new Map<string, number>()
  for (const row of body) {
    const cells: Cells = column => cellOf(row, keys.indexOf(headerKey(column)))
    const { line } = row
    const name = cells(NAME)
    const point = read(cells)
    if (name === '') refused.push({ file, line, column: NAME, message: 'is empty' })
    else if ('message' in point) refused.push({ file, line, ...point })
    else if (lines.has(point.address)) {
      refused.push({ file, line, column: NAME, message: `${point.address} stands already on line ${lines.get(point.address)}` })
    } else {
      lines.set(point.address, line)
      points.push({ line, name: name.slice(0, NAME_MAX), ...point })
      const units = cells('Units')
      if (point.kind === 'number' && point.unit === 'count' && !isUnitless(units)) {
        notes.push({
          file,
          line,
          column: 'Units',
          message: `"${units}" is no unit that is known here; the point is kept without one`,
        })
      }
    }
  }
  return { points, refused, notes }
}

/** `analogInput` as the standard writes it: `analog-input`. */
const kebab = (text: string): string => text.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`).replace(/^-/, '')

function bacnetPoint(cells: Cells): Read {
  const type = kebab(cells('BACnet Object Type'))
  if (typeof parseTarget(`${type},0`) === 'string')
    return { column: 'BACnet Object Type', message: String(parseTarget(`${type},0`)) }
  const index = cells('Index')
  const target = parseTarget(`${type},${index}/${kebab(cells('Property') || 'presentValue')}`)
  if (typeof target === 'string')
    return { column: /^\d+$/.test(index) && !target.startsWith('instance') ? 'Property' : 'Index', message: target }
  const many = notOneValue(target)
  if (many !== undefined) return { column: 'Property', message: many }
  const cov = cells('COV Flag').toLowerCase() === 'true' && target.property === PRESENT_VALUE
  return { address: formatTarget(target), ...bacnetValue(target, cells('Units')), ...(cov && { cov }) }
}

const OUT_OF_SERVICE = 81

function bacnetValue(target: Target, units: string): Pick<RegistryPoint, 'kind' | 'unit' | 'scale' | 'offset'> {
  if (isText(target.property)) return { kind: 'string', unit: 'count' }
  if (target.property === OUT_OF_SERVICE) return { kind: 'bool', unit: 'bool' }
  if (target.property !== PRESENT_VALUE) return { kind: 'number', ...unitNamed(units) }
  switch (POINT_TYPES.get(target.type)) {
    case 'binary':
      return { kind: 'bool', unit: 'bool' }
    case 'multistate':
      return { kind: 'enum', unit: 'enum' }
    case 'text':
      return { kind: 'string', unit: 'count' }
    default:
      return { kind: 'number', ...unitNamed(units) }
  }
}

const FORMAT_WORDS = 'is no format for one value of 16, 32 or 64 bits; write for example BOOL, >f, >H or <l'
/** Python's struct formats with standard sizes (its manual, "Format Characters"). */
const STRUCT_FORMATS: Record<string, string> = {
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
}

function modbusPoint(cells: Cells): Read {
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
      message: `"${register}" has 32 or 64 bits by the machine; write >${letter} or <${letter}`,
    }
  }
  const format = STRUCT_FORMATS[letter] ?? ''
  const table = isBit ? (isWritten ? 'coil' : 'discrete') : isWritten ? 'holding' : 'input'
  const address = isBit ? `${table}:${place}` : `${table}:${place}:${format}:${orderOf(sign, cells('Mixed Endian'))}`
  const parsed = parseModbusAddress(address, 'ABCD')
  if (typeof parsed === 'string') return { column: 'Point Address', message: parsed }
  return isBit ? { address, kind: 'bool', unit: 'bool' } : { address, kind: 'number', ...unitNamed(cells('Units')) }
}

/** `<` turns the bytes of the value round; Mixed Endian turns the registers round before. Without a sign it is the machine's own. */
function orderOf(sign: string, mixed: string): string {
  const isLittle = sign !== '>' && sign !== '!'
  const isMixed = mixed.toLowerCase() === 'true'
  if (isLittle) return isMixed ? 'BADC' : 'DCBA'
  return isMixed ? 'CDAB' : 'ABCD'
}

const isUnitless = (text: string): boolean =>
  text === '' || unitCode(text) === 'count' || /^(no ?units?|none|unknown)/i.test(text)

const UNITS_BY_NAME = new Map(
  Array.from({ length: 255 }, (_, id) => engineeringUnit(id))
    .filter((known): known is KnownUnit => known.unit !== undefined)
    .map(({ name, ...rest }) => [name, rest]),
)

/** `degreesFahrenheit`, `°F` or `F`; `count` when it is not known, so that nothing is guessed. */
function unitNamed(text: string): Pick<RegistryPoint, 'unit' | 'scale' | 'offset'> {
  const known = UNITS_BY_NAME.get(kebab(text))
  return known ?? { unit: unitCode(text) ?? 'count' }
}
