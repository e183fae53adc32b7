/** Files of points as tools write them, in whatever encoding and with whatever separator. */
import { parse } from 'csv-parse/sync'
import { formOf, TOLERANT } from '#shared/central/import/table.ts'
import type { Table } from '#shared/core/catalogue/table.ts'
import { Problem } from '#shared/core/problem.ts'

/** Longest record; an unclosed quote does not swallow the file. */
const RECORD_MAX = 64 * 1024
/** Ten devices with as many points as one may have. Reading holds up everything else on the box for some 40 µs a row. */
const ROWS_MAX = 100_000
/** The head of an EDE table has fewer cells than its rows, so all of these lines count together. */
const LINES = 200
const SEPARATORS = [';', ',', '\t'] as const

/**
 * @param file its name, for what is said about it
 * @throws Problem invalid when it is no text or too long, or a record of it cannot be read
 */
export function readTableFile(file: string, bytes: Buffer): Table {
  const { encoding, isText } = formOf(bytes)
  if (!isText) throw new Problem('invalid', `${file} is no table: it is no text`)
  const text = new TextDecoder(encoding).decode(bytes)
  const lines = text.match(/\r\n|\n|\r/g)?.length ?? 0
  if (lines > ROWS_MAX) throw new Problem('invalid', `${file} has ${lines} rows, more than ${ROWS_MAX}; import it in parts`)
  try {
    const rows: unknown = parse(text, {
      ...TOLERANT,
      delimiter: separatorOf(text),
      max_record_size: RECORD_MAX,
    })
    return { file, rows: rows as Table['rows'] }
  } catch (error) {
    throw new Problem('invalid', `${file} cannot be read: ${(error as Error).message}`)
  }
}

/** The one that separates most; texts hold commas too, but a row of points has more separators than its texts. */
function separatorOf(text: string): string {
  const head = text
    .split(/\r\n|\n|\r/, LINES)
    .join('\n')
    .replaceAll(/"[^"]*"/g, '')
  const counts = SEPARATORS.map(separator => ({ separator, count: head.split(separator).length }))
  return counts.toSorted((a, b) => b.count - a.count)[0]!.separator
}
