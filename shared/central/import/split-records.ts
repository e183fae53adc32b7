/** Splits a table into records. A parser takes over at the first quote: until then, lines and cells can simply be cut. */
import { CsvError, type Options, parse } from 'csv-parse'
import { pipeline, Readable } from 'node:stream'
import { CellRecord, LineRecord, type TableRecord } from '#shared/core/csv/record.ts'

/** A record of the parser and the line on which it ends. */
export type CsvRecord = { cells: string[]; line: number }

/** Options of the parser for tables of people and tools: a record is a `CsvRecord`. */
export const TOLERANT_CSV: Options = {
  bom: true,
  // The line ends are listed, because the parser would otherwise use the first one for the whole file, and files are often
  // joined from several systems.
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  relax_quotes: true,
  skip_empty_lines: true,
  on_record: (cells, { lines }) => ({ cells, line: lines }) as never, // The types allow only lists of texts.
}

/** Maximum size of a record, bytes: thousands of columns fit, and an unclosed quote does not read the whole file. */
const RECORD_MAX = 1024 * 1024

/** A record that cannot be read. `line`: of the file, on which it begins. */
export class UnreadableRecord extends Error {
  readonly line: number

  constructor({ code, message }: CsvError, line: number) {
    super(REASONS[code] ?? message)
    this.line = line
  }
}

const REASONS: Partial<Record<CsvError['code'], string>> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_MAX_RECORD_SIZE: `the record has more than ${RECORD_MAX} bytes; perhaps a quote is not closed`,
}

const LINE_END = /\r\n?|\n/
/** Records that are passed at once where the parser reads. */
const PARSED_AT_ONCE = 1000

/**
 * Yields the records of a text that comes in pieces, those of a piece at once; blank lines are left out. Cutting takes a
 * quarter of the time of the parser, and gives the same records.
 *
 * @throws UnreadableRecord
 */
export async function* splitRecords(pieces: AsyncIterable<string>, delimiter: string): AsyncGenerator<TableRecord[]> {
  const source = pieces[Symbol.asyncIterator]()
  let line = 0
  let rest = ''
  try {
    for (let piece = await source.next(); !piece.done; piece = await source.next()) {
      const text = rest + piece.value
      if (piece.value.includes('"') || rest.length > RECORD_MAX) {
        yield* parseRecords(continued(text, source), delimiter, line)
        return
      }
      const lines = text.split(text.includes('\r') ? LINE_END : '\n')
      rest = lines.pop()!
      // The end of line of two characters may be cut in two.
      if (text.endsWith('\r')) rest = `${lines.pop()!}\r`
      const records: TableRecord[] = []
      for (const cells of lines) {
        line++
        if (cells !== '') records.push(new LineRecord(cells, delimiter, line))
      }
      yield records
    }
    const last = rest.replace(/\r$/, '')
    if (last !== '') yield [new LineRecord(last, delimiter, line + 1)]
  } finally {
    await source.return?.() // A reader that stops early closes the file.
  }
}

async function* continued(text: string, source: AsyncIterator<string>): AsyncGenerator<string> {
  yield text
  for (let piece = await source.next(); !piece.done; piece = await source.next()) yield piece.value
}

async function* parseRecords(pieces: AsyncIterable<string>, delimiter: string, before: number): AsyncGenerator<TableRecord[]> {
  // Where the last good record ends. What is read here may be behind: an error discards what the parser still holds.
  let last = before
  const on_record: Options['on_record'] = (cells, context) => {
    last = context.lines
    return TOLERANT_CSV.on_record!(cells, context)
  }
  const parser = parse({ ...TOLERANT_CSV, on_record, delimiter, max_record_size: RECORD_MAX })
  Object.assign(parser.info, { lines: parser.info.lines + before }) // Read-only in the types, and read where errors are worded.
  pipeline(Readable.from(pieces), parser, ignoreError)
  let records: TableRecord[] = []
  try {
    for await (const { cells, line } of parser as AsyncIterable<CsvRecord>) {
      if (records.push(new CellRecord(cells, line)) < PARSED_AT_ONCE) continue
      yield records
      records = []
    }
  } catch (error) {
    yield records // Those before the error are good.
    // The parser names the line on which it gave up: for a quote that is never closed that is the end of the file.
    throw error instanceof CsvError ? new UnreadableRecord(error, last + 1) : error
  }
  yield records
}

/** Ignores an error that the reader of the parser gets as well. */
const ignoreError = () => undefined
