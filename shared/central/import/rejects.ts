import { localClock } from '#shared/core/csv/local-clock.ts'
import { csvLine } from '#shared/core/csv/write-csv.ts'
import { rowInstant, type TablePlan } from '#shared/core/csv/row-reader.ts'
import { Problem } from '#shared/core/problem.ts'
import type { ImportSession } from './sessions.ts'
import { readTable } from './read-table.ts'
import { UnreadableRecord } from './split-records.ts'

/** Maximum listed length of a rejected row, characters. */
const TEXT_MAX = 500

/**
 * The rejected rows of one table under its header, as they were: to be corrected and imported. It ends before a record that
 * cannot be read.
 *
 * @throws Problem not_found when the package has no such table
 */
export function rejectedRows({ plan, files }: ImportSession, path: string | undefined): AsyncGenerator<string> {
  const table = plan?.tables.find(one => one.path === path)
  if (!table) throw new Problem('not_found', 'There is no such table in this package')
  return rowsToCorrect(table, files.find(one => one.path === path)!.file)
}

async function* rowsToCorrect(table: TablePlan, file: string): AsyncGenerator<string> {
  const delimiter = table.delimiter === ',' ? ',' : ';'
  try {
    for await (const { record, verdict } of judgedRecords(table, file)) {
      if (typeof verdict !== 'number') yield csvLine(record.cells(), delimiter)
    }
  } catch (error) {
    if (!(error instanceof UnreadableRecord)) throw error
  }
}

/** The rejected rows of an import as CSV, each with its reason. The package is read again; a table is listed up to its first unreadable record. */
export async function* rejectsCsv({ plan, files }: ImportSession): AsyncGenerator<string> {
  yield 'file,line,code,message,row\r\n'
  const fileOf = new Map(files.map(({ path, file }) => [path, file]))
  for (const table of plan?.tables ?? []) {
    try {
      yield* rejectsOf(table, fileOf.get(table.path)!)
    } catch (error) {
      if (!(error instanceof UnreadableRecord)) throw error
      yield csvLine([table.path, String(error.line), 'row_unreadable', error.message, ''])
    }
  }
}

async function* rejectsOf(table: TablePlan, file: string): AsyncGenerator<string> {
  for await (const { record, verdict } of judgedRecords(table, file)) {
    if (verdict === undefined || typeof verdict === 'number') continue
    const row = record.cells().join(table.delimiter).slice(0, TEXT_MAX)
    yield csvLine([table.path, String(record.line), verdict.code, verdict.message, row])
  }
}

/** Every record with its instant or why it has none; the header, which is first, has no verdict. */
async function* judgedRecords(table: TablePlan, file: string) {
  const local = table.timezone === undefined ? undefined : localClock(table.timezone)
  let isHeader = true
  for await (const records of readTable(file, table)) {
    for (const record of records) {
      yield { record, verdict: isHeader ? undefined : rowInstant(record, table, local) }
      isHeader = false
    }
  }
}
