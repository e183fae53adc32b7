/** Splits a table into records. A parser takes over at the first quote: until then, lines and cells can simply be cut. */
import { type Options, parse } from 'csv-parse'
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
const LINE_END = /\r\n?|\n/
/** Records that are passed at once where the parser reads. */
const PARSED_AT_ONCE = 1000

/**
 * Yields the records of a text that comes in pieces, those of a piece at once; blank lines are left out. Cutting takes a
 * quarter of the time of the parser, and gives the same records.
 *
 * @throws CsvError with a line when a record cannot be read
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
  const parser = parse({ ...TOLERANT_CSV, delimiter, max_record_size: RECORD_MAX })
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
    throw error
  }
  yield records
}

/** Ignores an error that the reader of the parser gets as well. */
const ignoreError = () => undefined
