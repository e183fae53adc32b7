/** The beginning of a staged table: its header and a few rows, to be looked at while its columns are mapped. */
import { nameColumns } from '#shared/core/csv/columns.ts'
import { readFirstCells, readTableForm } from './read-table.ts'

/** Rows that are shown. */
const ROWS_SHOWN = 5

export type TableHead = {
  headers: string[]
  /** Cells of the first rows, in the order of the headers. */
  rows: string[][]
  /** Headers of the time. */
  time: string[]
}

/** @param path within the package; a table of one column may be named after it */
export async function readTableHead(path: string, file: string): Promise<TableHead> {
  const form = await readTableForm(file)
  const cells = form.isText && !form.empty ? await readFirstCells(file, form, ROWS_SHOWN) : []
  const [header = [], ...rows] = cells
  const headers = header.length > 0 ? nameColumns(header, path) : []
  return { headers, rows, time: headers.filter((_, i) => (form.timeCells ?? [0]).includes(i)) }
}
