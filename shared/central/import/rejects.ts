import { localClock } from '#shared/core/csv/local-clock.ts'
import { judgeRow } from '#shared/core/csv/rows.ts'
import type { ImportSession } from './sessions.ts'
import { readTable } from './table.ts'

/** Longest piece of a refused row that is shown. */
const TEXT_MAX = 500

/** @returns a cell as CSV writes it; one that a spreadsheet would run as a formula is shown as text */
export function csvCell(text: string): string {
  const shown = /^[=+@\t\r]/.test(text) ? `'${text}` : text
  return /[",\n\r]/.test(shown) ? `"${shown.replaceAll('"', '""')}"` : shown
}

/** The rows that an import leaves out, as CSV, found by reading the package once more. */
export async function* rejectsCsv({ plan, files }: ImportSession): AsyncGenerator<string> {
  yield 'file,line,code,message,row\r\n'
  const fileOf = new Map(files.map(({ path, file }) => [path, file]))
  for (const table of plan?.tables ?? []) {
    const local = table.timezone === undefined ? undefined : localClock(table.timezone)
    let header = true
    for await (const { cells, line } of readTable(fileOf.get(table.path)!, table)) {
      const verdict = header ? 0 : judgeRow(cells, table, local)
      header = false
      if (typeof verdict === 'number') continue
      const row = cells.join(table.delimiter).slice(0, TEXT_MAX)
      yield `${[table.path, String(line), verdict.code, verdict.message, row].map(csvCell).join(',')}\r\n`
    }
  }
}
