import { localClock } from '#shared/core/csv/local-clock.ts'
import { csvLine } from '#shared/core/csv/write-csv.ts'
import { rowInstant, type TablePlan } from '#shared/core/csv/row-reader.ts'
import type { ImportSession } from './sessions.ts'
import { readTable } from './read-table.ts'
import { UnreadableRecord } from './split-records.ts'

/** Maximum listed length of a rejected row, characters. */
const TEXT_MAX = 500

/** The rejected rows of an import as CSV. The package is read again; a table is listed up to its first unreadable record. */
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
  const local = table.timezone === undefined ? undefined : localClock(table.timezone)
  let header = true
  for await (const records of readTable(file, table)) {
    for (const record of records) {
      const verdict = header ? 0 : rowInstant(record, table, local)
      header = false
      if (typeof verdict === 'number') continue
      const row = record.cells().join(table.delimiter).slice(0, TEXT_MAX)
      yield csvLine([table.path, String(record.line), verdict.code, verdict.message, row])
    }
  }
}
