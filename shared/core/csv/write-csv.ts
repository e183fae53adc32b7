/** Writes CSV whose cells no spreadsheet executes as a formula. */

/** EDE tools separate cells by semicolons, because half of Europe uses the comma as decimal sign. */
type Delimiter = ',' | ';'

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i
/**
 * Spreadsheets ignore blanks and quotes before a formula, so this pattern does as well. They take the wide forms of the signs for the
 * signs, and one whose list separator is the semicolon begins a cell after it, also within quotes.
 */
const FORMULA = /(^|;)(?=['"\s]*[=+\-@＝＋－＠])/g

const GUARDED = /(^|;)'(?=['"\s]*[=+\-@＝＋－＠])/g
/** @returns the text of a cell without the apostrophes that keep spreadsheets from executing it */
export const withoutGuard = (text: string): string => text.replace(GUARDED, '$1')

/**
 * One cell, quoted where necessary. Line breaks, tabs and other control characters become a blank. A text that a spreadsheet would take for a formula
 * gets an apostrophe before it, which the import removes. Numbers are unchanged.
 */
function csvCell(text: string, delimiter: Delimiter): string {
  const plain = text.replaceAll(/\p{Cc}+/gu, ' ')
  const shown = NUMBER.test(text) ? text : plain.replace(FORMULA, "$1'")
  return shown.includes('"') || shown.includes(delimiter) ? `"${shown.replaceAll('"', '""')}"` : shown
}

/** @returns one line with its line end; null and undefined are empty cells */
export const csvLine = (cells: readonly (string | number | null | undefined)[], delimiter: Delimiter = ','): string =>
  `${cells.map(cell => csvCell(String(cell ?? ''), delimiter)).join(delimiter)}\r\n`
