/** A building's model as one table: a row for the building, then one for each equipment and point. */
import { csvLine, withoutGuard } from '#shared/core/csv/write-csv.ts'
import type { DataError } from '#shared/core/problem.ts'
import {
  escapeText,
  FIELDS,
  type FieldValue,
  formatList,
  kindOfField,
  type ModelRecord,
  parseList,
  RECORD_KINDS,
  type RecordKind,
  unescapeText,
} from './records.ts'

const COLUMNS = ['record', 'id', ...new Set(RECORD_KINDS.flatMap(kind => FIELDS[kind]))]

export const writeModelCsv = (records: readonly ModelRecord[]): string =>
  [
    csvLine(COLUMNS),
    ...records.map(({ record, id, fields }) => csvLine([record, id, ...COLUMNS.slice(2).map(name => cellOf(fields[name]))])),
  ].join('')

const cellOf = (value: FieldValue | undefined): string | number | undefined =>
  Array.isArray(value) ? formatList(value) : typeof value === 'string' ? escapeText(value) : value

/**
 * @param rows cells of each row as text, with its line; the first row is the header, whose columns may stand in any order
 * @returns the records, and what is wrong with the table, by row and column
 */
export function readModelRows(rows: readonly { cells: readonly string[]; line: number }[]): {
  records: ModelRecord[]
  errors: DataError[]
} {
  const [header, ...body] = rows
  const names = (header?.cells ?? []).map(name => name.trim().toLowerCase())
  const unknown = names.filter(name => !COLUMNS.includes(name))
  const errors: DataError[] = unknown.map(name => ({
    row: 1,
    column: name,
    message: `there is no column ${name || 'without a name'}`,
    hint: `columns are ${COLUMNS.join(', ')}`,
  }))
  for (const name of ['record', 'id', 'name']) {
    if (!names.includes(name)) errors.push({ row: 1, column: name, message: `the column ${name} is missing` })
  }
  if (errors.length > 0) return { records: [], errors }
  const records: ModelRecord[] = []
  for (const { cells, line: row } of body) {
    if (cells.every(cell => cell.trim() === '')) continue
    const cell = (name: string) => withoutGuard(cells[names.indexOf(name)] ?? '')
    const record = cell('record').trim() as RecordKind
    if (!RECORD_KINDS.includes(record)) {
      errors.push({ row, column: 'record', message: `"${record}" is none of ${RECORD_KINDS.join(', ')}` })
      continue
    }
    const fields = readFields(record, cell, row, errors)
    const foreign = names.filter(name => !['record', 'id', ...FIELDS[record]].includes(name) && cell(name) !== '')
    for (const column of foreign) errors.push({ row, column, message: `a ${record} has no ${column}` })
    records.push({ record, id: cell('id').trim(), fields, row })
  }
  return { records, errors }
}

function readFields(record: RecordKind, cell: (name: string) => string, row: number, errors: DataError[]) {
  const fields: Record<string, FieldValue> = {}
  for (const name of FIELDS[record]) {
    const text = cell(name)
    const kind = kindOfField(name)
    if (text === '') continue
    if (kind === 'list') fields[name] = parseList(text)
    else if (kind === 'text') fields[name] = unescapeText(text)
    else if (text.trim() !== '' && Number.isFinite(Number(text))) fields[name] = Number(text)
    else errors.push({ row, column: name, message: `"${text}" is no number` })
  }
  return fields
}
