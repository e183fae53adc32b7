/** Tables with one value a row, `time, name, value`, as historians and supervisors export them. */
import { withoutUnit } from '../header-names.ts'
import { parseTimestamp } from '../timestamp.ts'

/** Cells of the time, the name of the point, its value and its unit. */
export type LongForm = { time: number; name: number; value: number; unit?: number; leftOut: string[] }

const NAME =
  /^(point|tag|object|series|sensor|signal|variable|channel|trend|item|datenpunkt|messpunkt|messstelle|punkt|objekt|kanal)?[ _-]*(name|id|path|tag|bezeichnung)?$/i
const VALUE = /^(present[ _-]?|trend[ _-]?)?(value|wert|messwert|val|reading)$/i
const UNIT = /^(units?|uom|einheit)$/i
const DIGIT_ONLY = /^[+-]?[\d.,]+$/

/**
 * @param header cells of the header
 * @param rows cells of the first rows
 * @returns undefined for a table with one time a row: its values have names of their own in the header
 */
export function longForm(header: readonly string[], rows: readonly (readonly string[])[]): LongForm | undefined {
  const names = header.map(cell => withoutUnit(cell).name.trim())
  const columnOf = (pattern: RegExp) => {
    const found = names.flatMap((name, i) => (name !== '' && pattern.test(name) ? [i] : []))
    return found.length === 1 ? found[0] : undefined
  }
  const [name, value, unit] = [columnOf(NAME), columnOf(VALUE), columnOf(UNIT)]
  const time = names.findIndex((_, i) => rows.length > 0 && rows.every(row => parseTimestamp(row[i] ?? '') !== undefined))
  if (name === undefined || value === undefined || time < 0 || time === name || time === value) return
  if (!rows.every(row => (row[name] ?? '').trim() !== '' && !DIGIT_ONLY.test(row[name]!.trim()))) return
  const used = new Set([time, name, value, unit])
  return { time, name, value, ...(unit !== undefined && { unit }), leftOut: header.filter((_, i) => !used.has(i)) }
}
