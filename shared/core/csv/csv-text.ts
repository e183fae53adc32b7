/** Tables as text that a spreadsheet opens without running any of it. */

/** Tools that write EDE separate by semicolons, and a comma is the decimal sign of half of Europe. */
type Delimiter = ',' | ';'

const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i

/**
 * A cell as CSV writes it. Spreadsheets take what begins with `=`, `+`, `-` or `@` for a formula, so an apostrophe goes
 * before it; the import takes it off again. Numbers stay as they are.
 */
function csvText(text: string, delimiter: Delimiter): string {
  const plain = text.replaceAll(/[\r\n\t]+/g, ' ')
  const shown = /^'*[=+\-@]/.test(plain) && !NUMBER.test(plain) ? `'${plain}` : plain
  return shown.includes('"') || shown.includes(delimiter) ? `"${shown.replaceAll('"', '""')}"` : shown
}

/** @returns one line with its end */
export const csvLine = (cells: readonly (string | number | undefined)[], delimiter: Delimiter): string =>
  `${cells.map(cell => csvText(String(cell ?? ''), delimiter)).join(delimiter)}\r\n`
