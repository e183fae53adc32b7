/**
 * Reads VOLTTRON registry configurations: tables of the points of one device. The columns of a protocol are read by its driver.
 *
 * @source VOLTTRON documentation, "Driver configuration", registry configuration file
 */
import type { PointKind } from '#shared/core/model/model.ts'
import { unitCode } from '#shared/core/model/unit.ts'
import { engineeringUnit, type KnownUnit, unsupportedUnit } from './engineering-units.ts'
import { cellOf, headerKey, isBlank, type RowRefusal, type PointTable } from './table.ts'

/** A point of the registry's device; it has no id yet. */
export type RegistryPoint = {
  line: number
  name: string
  address: string
  kind: PointKind
  unit: string
  scale?: number
  offset?: number
  /** Whether to subscribe to changes. */
  cov?: boolean
}
export type Registry = { points: RegistryPoint[]; refused: RowRefusal[]; notes: RowRefusal[] }

const NAME = 'Volttron Point Name'
const NAME_MAX = 200

/** Returns the cell of a row in the column with this heading; only letters and digits of headings are compared. */
export type Cells = (column: string) => string
/** A point without its line and name, or the column in which it is wrong and the reason. */
export type RegistryCells = Omit<RegistryPoint, 'line' | 'name'> | { column: string; message: string }

/**
 * @param needed headings that the table must have beside the name
 * @param readCells reads the columns of one row that belong to the protocol
 */
export function readRegistry({ file, rows }: PointTable, needed: string[], readCells: (cells: Cells) => RegistryCells): Registry {
  const [header, ...body] = rows.filter(row => !isBlank(row))
  const refused: RowRefusal[] = []
  const notes: RowRefusal[] = []
  const points: RegistryPoint[] = []
  const keys = header?.cells.map(headerKey) ?? []
  const missing = [NAME, ...needed].filter(column => !keys.includes(headerKey(column)))
  if (missing.length) {
    const message = `the first row has no such column; it has ${header?.cells.join(', ') || 'nothing'}`
    return { points, notes, refused: missing.map(column => ({ file, line: header?.line ?? 1, column, message })) }
  }
  const lines = new Map<string, number>()
  for (const row of body) {
    const cells: Cells = column => cellOf(row, keys.indexOf(headerKey(column)))
    const { line } = row
    const name = cells(NAME)
    const point = readCells(cells)
    if (name === '') refused.push({ file, line, column: NAME, message: 'is empty' })
    else if ('message' in point) refused.push({ file, line, ...point })
    else if (lines.has(point.address)) {
      refused.push({ file, line, column: NAME, message: `${point.address} is already on line ${lines.get(point.address)}` })
    } else {
      lines.set(point.address, line)
      points.push({ line, name: name.slice(0, NAME_MAX), ...point })
      const units = cells('Units')
      if (point.kind === 'number' && point.unit === 'count' && !isUnitless(units)) {
        notes.push({
          file,
          line,
          column: 'Units',
          message: unsupportedUnit(units),
        })
      }
    }
  }
  return { points, refused, notes }
}

/** Writes `analogInput` as the standard does: `analog-input`. */
export const kebab = (text: string): string => text.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`).replace(/^-/, '')

const isUnitless = (text: string): boolean =>
  text === '' || unitCode(text) === 'count' || /^(no ?units?|none|unknown)/i.test(text)

const UNITS_BY_NAME = new Map(
  Array.from({ length: 255 }, (_, id) => engineeringUnit(id))
    .filter((known): known is KnownUnit => known.unit !== undefined)
    .map(({ name, ...rest }) => [name, rest]),
)

/** Reads `degreesFahrenheit`, `°F` or `F`; an unsupported unit becomes `count`. */
export function unitNamed(text: string): Pick<RegistryPoint, 'unit' | 'scale' | 'offset'> {
  const known = UNITS_BY_NAME.get(kebab(text))
  return known ?? { unit: unitCode(text) ?? 'count' }
}
