/** Tables as they come from files, and what is wrong in them: by file, line and column. */

/** `line` is where the row stands in the file, from 1. */
export type TableRow = { line: number; cells: string[] }
export type PointTable = { file: string; rows: TableRow[] }

/** One row, or one cell of it, that is not taken. */
export type RowRefusal = { file: string; line: number; column: string; message: string }

/** The text of a cell, without surrounding blanks and without the apostrophe that keeps a spreadsheet from running it. */
export const cellOf = (row: TableRow, index: number | undefined): string =>
  (index === undefined ? '' : (row.cells[index] ?? '')).trim().replace(/^'(?=['"\s]*[=+\-@])/, '')

export const isBlank = ({ cells }: TableRow): boolean => cells.every(cell => cell.trim() === '')

/** @returns a whole number from 0 to `max`, or in words what is wrong */
export function readWhole(text: string, max: number): number | string {
  if (text === '') return 'is empty'
  if (!/^\d+$/.test(text)) return `"${text}" is no whole number`
  const value = Number(text)
  return value > max ? `${text} is above ${max}` : value
}

/** Letters and digits of a header, so that `supports COV`, `Supports-COV` and `SupportsCOV` are one. */
export const headerKey = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '')
