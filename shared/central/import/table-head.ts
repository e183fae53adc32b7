/** The beginning of a staged table: its header and a few rows, to be looked at while its columns are mapped. */
import { nameColumns } from '#shared/core/csv/columns.ts'
import { readTable, readTableForm } from './read-table.ts'

/** Rows that are shown. */
const ROWS_SHOWN = 5

export type TableHead = {
  headers: string[]
  /** Cells of the first rows, in the order of the headers. */
  rows: string[][]
}

/** @param path within the package; a table of one column may be named after it */
export async function readTableHead(path: string, file: string): Promise<TableHead> {
  const form = await readTableForm(file)
  const cells: string[][] = []
  if (form.isText && !form.empty) {
    for await (const records of readTable(file, form)) {
      cells.push(...records.slice(0, ROWS_SHOWN + 1 - cells.length).map(record => record.cells()))
      if (cells.length > ROWS_SHOWN) break
    }
  }
  const [header = [], ...rows] = cells
  return { headers: header.length > 0 ? nameColumns(header, path) : [], rows }
}
