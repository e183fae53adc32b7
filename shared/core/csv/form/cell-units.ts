/** Units that are written in the cells of a table, `21.5 °C`, as some building systems export values. */
import { unitCode, UNITS } from '#shared/core/model/unit.ts'
import { type CellValue, readCell } from '../cell.ts'
import { withoutUnit } from '../header-names.ts'
import type { TableRecord } from '../record.ts'

/** Code of the unit by cell of a row; null for a column without. */
export type CellUnits = readonly (string | null)[]

/** A number and its unit: after a blank, or a sign or two letters and more, because `12A` may be the name of a room. */
const WITH_UNIT = /^([+-]?\d(?:[\d.,'\s]*\d)?)(?:\s+(\D\S*(?: [A-Z])?)|([°%]\S*|[a-z]{2}\S*))$/i
/** Texts without digits mean no value, or a state: they say nothing of a unit. */
const DIGIT = /\d/

/** @returns the number of a cell as it is written, and the code of its unit; undefined for any other text */
export function splitUnit(cell: string): { number: string; unit: string } | undefined {
  const match = WITH_UNIT.exec(cell.trim())
  const unit = match && unitCode(match[2] ?? match[3]!)
  return unit && UNITS[unit]!.dimension !== 'none' ? { number: match![1]!, unit } : undefined
}

/**
 * @param rows cells of the first rows below the header
 * @returns the units of the columns in which every number has the same one; undefined where no column has
 */
export function findCellUnits(rows: readonly (readonly string[])[]): CellUnits | undefined {
  const width = Math.max(0, ...rows.map(cells => cells.length))
  const units = Array.from({ length: width }, (_, i) => {
    const cells = rows.flatMap(row => (DIGIT.test(row[i] ?? '') ? [row[i]!] : []))
    const found = new Set(cells.map(cell => splitUnit(cell)?.unit))
    return (found.size === 1 && [...found][0]) || null
  })
  return units.some(unit => unit !== null) ? units : undefined
}

/** @returns the cells of a header, with the units that are in the cells below and in no header */
export const headerWithUnits = (header: readonly string[], units: CellUnits): string[] =>
  header.map((name, i) => (units[i] && withoutUnit(name).unit === undefined ? `${name.trim()} (${units[i]})` : name))

/** A record whose cells bear units. A cell with another unit than that of its column stays a text. */
export class UnitRecord implements TableRecord {
  readonly #record: TableRecord
  readonly #units: CellUnits

  constructor(record: TableRecord, units: CellUnits) {
    this.#record = record
    this.#units = units
  }
  get line(): number {
    return this.#record.line
  }
  width(): number {
    return this.#record.width()
  }
  text(index: number): string {
    return this.#record.text(index)
  }
  value(index: number, decimalComma: boolean): CellValue {
    const value = this.#record.value(index, decimalComma)
    const unit = this.#units[index]
    const split = unit && typeof value === 'string' ? splitUnit(value) : undefined
    return split && split.unit === unit ? readCell(split.number, decimalComma) : value
  }
  cells(): string[] {
    return this.#record.cells()
  }
}
