/** Detects how a table is written: the delimiter, whether numbers have decimal commas or units, where its header and its time are. */
import { type CellUnits, findCellUnits, splitUnit } from './cell-units.ts'
import { parseTimestamp } from '../timestamp.ts'

/** Of delimiters that fit equally well the first is taken: commas are in names and numbers too. */
const DELIMITERS = [';', '\t', '|', ','] as const
type Delimiter = (typeof DELIMITERS)[number]
export type Dialect = {
  delimiter: Delimiter
  decimalComma: boolean
  /** Line of the header, from 1 on. Those before it say where the table comes from: `Trend report`, `sep=;`. */
  headerLine: number
  /** Left out where no cell bears a unit. */
  cellUnits?: CellUnits
  /** Cells of the time, where date and time of day have one each. */
  timeCells?: readonly number[]
  /** Names of columns by their cell in the header, from lines before it: `"Point_1:","AHU1.SAT"`. */
  legend?: ReadonlyMap<string, string>
}

/** Number of lines that are examined. */
const LINES = 50
const WITH_COMMA = /^[+-]?(?:\d+|\d{1,3}(?:[.'\s]\d{3})+),\d+$/
/** As above, but never `1,234`: between commas that is a thousand. */
const COMMA_NO_THOUSAND = /^[+-]?(?:\d+,(?:\d{1,2}|\d{4,})|\d{1,3}(?:[.'\s]\d{3})+,\d+)$/
const WITH_POINT = /^[+-]?\d+\.\d+$/
/** What the column of the time is called, in the languages of exports. */
const TIME_NAME = /^\W*(?:time|date|datum|zeit|uhrzeit|stamp|ts\b|heure|fecha|hora|data\b|ora\b)/i

const TIME_OF_DAY = /^\d{1,2}[:.]\d{2}(?:[:.]\d{2}(?:[.,]\d+)?)?\s*(?:[ap]\.?m\.?)?$/i

/** A line with its number, from 1 on. */
type Line = { text: string; number: number }
type Row = { cells: string[]; number: number }

/**
 * Finds the delimiter with which most lines begin with a time, and among those that tie the one with which most lines have equally
 * many cells.
 *
 * @param head the beginning of the file, a few kilobytes; without an end of line its last line may be incomplete
 */
export function sniffDialect(head: string): Dialect {
  const lines = head
    .split(/\r\n|\n|\r/)
    .map((text, i): Line => ({ text, number: i + 1 }))
    .filter(({ text }) => text.trim() !== '')
  const whole = /[\r\n]$/.test(head) ? lines.length : Math.max(2, lines.length - 1)
  const looked = lines.slice(0, Math.min(LINES, whole))
  const scored = DELIMITERS.map(delimiter => ({ delimiter, ...fit(rowsOf(looked, delimiter)) }))
  const best = scored.toSorted((a, b) => b.times - a.times || b.share - a.share || b.cells - a.cells)[0]!
  const { delimiter, rows } = best.cells > 1 ? best : scored.find(one => one.delimiter === ',')!
  const headerLine = headerOf(rows)
  const below = rows.filter(({ number }) => number > headerLine).map(row => row.cells.map(cell => cell.trim()))
  const cellUnits = findCellUnits(below)
  const numbers = below.flat().map(cell => splitUnit(cell)?.number ?? cell)
  const timed = rows.filter(startsWithTime)
  const header = rows.find(({ number }) => number === headerLine)?.cells.map(cell => cell.trim()) ?? []
  const isTwo = timed.length > 0 && timed.every(isDateAndTime) && (TIME_NAME.test(header[1] ?? '') || repeatsDates(timed))
  const legend = legendOf(
    rows.filter(({ number }) => number < headerLine),
    header,
  )
  return {
    ...{ delimiter, decimalComma: hasDecimalCommas(numbers, delimiter), headerLine },
    ...(cellUnits && { cellUnits }),
    ...(isTwo && { timeCells: [0, 1] }),
    ...(legend.size > 0 && { legend }),
  }
}

const rowsOf = (lines: Line[], delimiter: Delimiter): Row[] =>
  lines.map(({ text, number }) => ({ cells: splitLine(text, delimiter), number }))

/** `times`, `share`: parts of the lines that begin with a time, and that have the usual number of cells. */
function fit(rows: Row[]) {
  const counts = [...Map.groupBy(rows, row => row.cells.length)].filter(([count]) => count > 1)
  const [cells, usual] = counts.toSorted(([, a], [, b]) => b.length - a.length)[0] ?? [1, []]
  const times = usual.filter(startsWithTime).length
  return { rows, cells, times: times / rows.length, share: usual.length / rows.length }
}

/** A date without a time of day, and what may be one in the next cell. */
function isDateAndTime({ cells: [date = '', time = ''] }: Row): boolean {
  const whole = `${date.trim()} ${time.trim()}`
  return !date.includes(':') && TIME_OF_DAY.test(time.trim()) && parseTimestamp(whole) !== undefined
}

/** A table of one row a day may have durations such as `03:15` beside its dates; one of several rows a day needs the time. */
const repeatsDates = (rows: Row[]): boolean =>
  rows.every(({ cells }) => cells[1]!.includes(':')) && new Set(rows.map(({ cells }) => cells[0])).size < rows.length

/** Lines before the header that say what its names stand for. */
function legendOf(before: Row[], header: readonly string[]): Map<string, string> {
  const said = before.flatMap(({ cells }): [string, string][] => {
    const [key = '', name = ''] = cells.map(cell => cell.trim())
    const column = key.replace(/:$/, '')
    return name !== '' && column !== '' && header.includes(column) ? [[column, name]] : []
  })
  return new Map(said)
}

const startsWithTime = ({ cells }: Row): boolean => parseTimestamp(cells[0]!) !== undefined

/**
 * The header stands before the first row with a time and is as wide as that. Of several such lines it is the one with the most names;
 * of those the one whose first name is that of a time, else the first.
 *
 * @returns its line; the first one where no line is a header
 */
function headerOf(rows: Row[]): number {
  const at = rows.findIndex(startsWithTime)
  const width = at > 0 ? widthOf(rows[at]!) : 0
  const wide = rows.slice(0, Math.max(0, at)).filter(row => row.cells.length === rows[at]!.cells.length || widthOf(row) === width)
  const names = Math.max(...wide.map(namesIn))
  const full = wide.filter(row => namesIn(row) === names)
  const header = full.find(({ cells }) => TIME_NAME.test(cells[0]!)) ?? full[0]
  return header?.number ?? 1
}

/** Number of cells up to the last one that is not blank. */
const widthOf = ({ cells }: Row): number => cells.findLastIndex(cell => cell.trim() !== '') + 1
const namesIn = ({ cells }: Row): number => cells.filter(cell => cell.trim() !== '').length

function hasDecimalCommas(cells: string[], delimiter: Delimiter): boolean {
  const pattern = delimiter === ',' ? COMMA_NO_THOUSAND : WITH_COMMA
  return cells.some(cell => pattern.test(cell)) && !cells.some(cell => WITH_POINT.test(cell))
}

/** Cuts one line into cells without their quotes; a delimiter within double quotes does not count. */
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
