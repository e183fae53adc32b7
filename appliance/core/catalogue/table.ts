/** Tables of points from files, and refusals by file, line and column. */

import { withoutGuard } from '#shared/core/csv/write-csv.ts'

/** `line`: line of the row in the file, from 1. */
export type TableRow = { line: number; cells: string[] }
export type PointTable = { file: string; rows: TableRow[] }

/** A row or cell that is refused or ignored. */
export type RowRefusal = { file: string; line: number; column: string; message: string }

/** @returns the text of a cell, trimmed, without the apostrophe that prevents spreadsheets from evaluating it */
export const cellOf = (row: TableRow, index: number | undefined): string =>
  withoutGuard((index === undefined ? '' : (row.cells[index] ?? '')).trim())

export const isBlank = ({ cells }: TableRow): boolean => cells.every(cell => cell.trim() === '')

/** @returns a whole number from 0 to `max`, or the reason why the text is not one */
export function readWhole(text: string, max: number): number | string {
  if (text === '') return 'is empty'
  if (!/^\d+$/.test(text)) return `"${text}" is not a whole number`
  const value = Number(text)
  return value > max ? `${text} is above ${max}` : value
}

/** @returns the letters and digits of a header, so that `supports COV`, `Supports-COV` and `SupportsCOV` are equal */
export const headerKey = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '')
