import { stat } from 'node:fs/promises'
import type { CheckReport } from '#shared/core/csv/checks.ts'
import { type ColumnNotes, readColumnList } from '#shared/core/csv/column-list.ts'
import type { ColumnMap } from '#shared/core/csv/package-json.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { readTable, type TableForm, readTableForm } from './read-table.ts'
import { type CsvRecord, UnreadableRecord } from './split-records.ts'

/** Maximum size of a column list, bytes: 10,000 columns with their names. */
const LIST_MAX = 4 * 1024 * 1024

/** Reads `columns.csv` of a folder. */
export async function readColumnNotes(
  columnList: string | undefined,
  fileOf: Map<string, string>,
  type: EquipmentType,
  map: ColumnMap | undefined,
  checks: CheckReport,
): Promise<ColumnNotes> {
  if (columnList === undefined) return new Map()
  const file = fileOf.get(columnList)!
  const { size } = await stat(file)
  const form = size <= LIST_MAX ? await readTableForm(file) : undefined
  const lines = form?.isText && !form.empty ? await readLines(file, form) : undefined
  if (lines) return readColumnList(lines, columnList, type, new Set(Object.values(map?.points ?? {})), checks)
  const why = form ? 'is empty or no text' : `has ${size} bytes; at most ${LIST_MAX} are accepted`
  checks.add('columns_invalid', columnList, why)
  return new Map()
}

async function readLines(file: string, form: TableForm): Promise<CsvRecord[] | undefined> {
  try {
    const lines: CsvRecord[] = []
    for await (const some of readTable(file, form))
      lines.push(...some.map(record => ({ cells: record.cells(), line: record.line })))
    return lines
  } catch (error) {
    if (error instanceof UnreadableRecord) return undefined
    throw error
  }
}
