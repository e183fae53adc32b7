/** Detects how a table is written: the delimiter, and whether numbers have decimal commas. */

const DELIMITERS = [',', ';', '\t', '|'] as const
export type Dialect = { delimiter: (typeof DELIMITERS)[number]; decimalComma: boolean }

/** Number of lines that are examined. */
const LINES = 50
const WITH_COMMA = /^[+-]?\d+,\d+$/
const WITH_POINT = /^[+-]?\d+\.\d+$/

/**
 * Finds the delimiter with which most lines have as many cells as the first.
 *
 * @param head the beginning of the file, a few kilobytes; its last line may be incomplete
 */
export function sniffDialect(head: string): Dialect {
  const lines = head.split(/\r\n|\n|\r/).filter(line => line.trim() !== '')
  const looked = lines.slice(0, Math.max(2, Math.min(LINES, lines.length - 1)))
  const scored = DELIMITERS.map(delimiter => ({ delimiter, ...fit(looked, delimiter) }))
  const { delimiter } = scored.toSorted((a, b) => b.share - a.share || b.cells - a.cells)[0]!
  if (delimiter === ',') return { delimiter, decimalComma: false }
  const cells = looked.slice(1).flatMap(line => splitLine(line, delimiter).map(cell => cell.trim()))
  return { delimiter, decimalComma: cells.some(cell => WITH_COMMA.test(cell)) && !cells.some(cell => WITH_POINT.test(cell)) }
}

function fit(lines: string[], delimiter: string) {
  const counts = lines.map(line => splitLine(line, delimiter).length)
  const cells = counts[0] ?? 1
  return { cells, share: cells > 1 ? counts.filter(count => count === cells).length / counts.length : 0 }
}

/** Counts the cells of one line; a delimiter within double quotes does not count. It does not decode them. */
function splitLine(line: string, delimiter: string): string[] {
  const cells = ['']
  let quoted = false
  for (const char of line) {
    if (char === '"') quoted = !quoted
    else if (char === delimiter && !quoted) cells.push('')
    else cells[cells.length - 1] += char
  }
  return cells
}
