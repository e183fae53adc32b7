/** Writes CSV that a spreadsheet opens without running any of its cells as a formula. */

/** Tools that write EDE separate cells by semicolons, because a comma is the decimal sign of half of Europe. */
type Delimiter = ',' | ';'

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i
/** Spreadsheets skip blanks and quotes before a formula, so these are skipped here too. */
const FORMULA = /^['"\s]*[=+\-@]/

/**
 * One cell, quoted where necessary. Line breaks and tabs become a blank. A text that a spreadsheet would take for a formula gets an
 * apostrophe in front, which the import removes again. Numbers stay numbers.
 */
function csvCell(text: string, delimiter: Delimiter): string {
  const isFormula = FORMULA.test(text) && !NUMBER.test(text)
  const shown = (isFormula ? `'${text}` : text).replaceAll(/[\r\n\t]+/g, ' ')
  return shown.includes('"') || shown.includes(delimiter) ? `"${shown.replaceAll('"', '""')}"` : shown
}

/** @returns one line with its line end; null and undefined are empty cells */
export const csvLine = (cells: readonly (string | number | null | undefined)[], delimiter: Delimiter = ','): string =>
  `${cells.map(cell => csvCell(String(cell ?? ''), delimiter)).join(delimiter)}\r\n`
