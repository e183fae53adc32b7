/** Tables with one value a row, `time, name, value`, as historians and supervisors export them. */
import { withoutUnit } from '../header-names.ts'
import { parseTimestamp } from '../timestamp.ts'

/** Cells of the time, the name of the point, its value and its unit. */
export type LongForm = { time: readonly number[]; name: number; value: number; unit?: number; leftOut: string[] }

const NAME =
  /^(point|tag|object|series|sensor|signal|variable|channel|trend|item|datenpunkt|messpunkt|messstelle|punkt|objekt|kanal)?[ _-]*(name|id|path|tag|bezeichnung|(?:name )?(?:path )?reference)?$/i
const VALUE = /^(present[ _-]?|trend[ _-]?|object[ _-]?|point[ _-]?)?(value|wert|messwert|val|reading)$/i
const UNIT = /^(units?|uom|einheit)$/i
const DIGIT_ONLY = /^[+-]?[\d.,]+$/

/**
 * @param header cells of the header
 * @param rows cells of the first rows
 * @param timeCells those of date and time of day, where they are two
 * @returns undefined for a table with one time a row: its values have names of their own in the header
 */
export function longForm(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  timeCells?: readonly number[],
): LongForm | undefined {
  const names = header.map(cell => withoutUnit(cell).name.trim())
  const columnsOf = (pattern: RegExp) => names.flatMap((name, i) => (name !== '' && pattern.test(name) ? [i] : []))
  const only = (pattern: RegExp) => (columnsOf(pattern).length === 1 ? columnsOf(pattern)[0] : undefined)
  const [name, value, unit] = [mostTelling(columnsOf(NAME), rows), only(VALUE), only(UNIT)]
  const isTime = (i: number) => rows.length > 0 && rows.every(row => parseTimestamp(row[i] ?? '') !== undefined)
  const time = timeCells ?? names.flatMap((_, i) => (isTime(i) ? [i] : [])).slice(0, 1)
  if (name === undefined || value === undefined || time.length === 0 || time.includes(name) || time.includes(value)) return
  if (!rows.every(row => (row[name] ?? '').trim() !== '' && !DIGIT_ONLY.test(row[name]!.trim()))) return
  const used = new Set([...time, name, value, unit])
  return { time, name, value, ...(unit !== undefined && { unit }), leftOut: header.filter((_, i) => !used.has(i)) }
}

/** Of several columns of names the one that tells most points apart, and of those the one with the longest: a path, not its last part. */
function mostTelling(columns: readonly number[], rows: readonly (readonly string[])[]): number | undefined {
  const texts = (i: number) => rows.map(row => row[i] ?? '')
  const known = columns.map(i => ({ i, different: new Set(texts(i)).size, letters: texts(i).join('').length }))
  return known.toSorted((a, b) => b.different - a.different || b.letters - a.letters)[0]?.i
}
