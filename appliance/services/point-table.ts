/** Files of points as tools write them, in whatever encoding and with whatever separator. */
import { Readable } from 'node:stream'
import { setImmediate as breathe } from 'node:timers/promises'
import { parse } from 'csv-parse'
import { errorText } from '#shared/core/error-text.ts'
import { formOf, TOLERANT } from '#shared/central/import/table.ts'
import type { Table } from '../core/catalogue/table.ts'
import { Problem } from '#shared/core/problem.ts'

/** Longest record; an unclosed quote does not swallow the file. */
const RECORD_MAX = 64 * 1024
/** Ten devices with as many points as one may have. */
const ROWS_MAX = 100_000
/** Some two hundred rows, which take a few milliseconds; between two slices everything else on the box has its turn. */
const SLICE = 16 * 1024
/** The head of an EDE table has fewer cells than its rows, so all of these lines count together. */
const LINES = 200
const SEPARATORS = [';', ',', '\t'] as const

/**
 * @param file its name, for what is said about it
 * @throws Problem invalid when it is no text or too long, or a record of it cannot be read
 */
export async function readPointTable(file: string, bytes: Buffer): Promise<Table> {
  const { encoding, isText } = formOf(bytes)
  if (!isText) throw new Problem('invalid', `${file} is no table: it is no text`)
  const text = new TextDecoder(encoding).decode(bytes)
  const lines = text.match(/\r\n|\n|\r/g)?.length ?? 0
  if (lines > ROWS_MAX) throw new Problem('invalid', `${file} has ${lines} rows, more than ${ROWS_MAX}; import it in parts`)
  const parser = parse({ ...TOLERANT, delimiter: separatorOf(text), max_record_size: RECORD_MAX })
  try {
    const rows: Table['rows'][number][] = []
    for await (const row of Readable.from(slicesOf(Buffer.from(text))).pipe(parser)) rows.push(row)
    return { file, rows }
  } catch (error) {
    throw new Problem('invalid', `${file} cannot be read: ${errorText(error)}`)
  }
}

async function* slicesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE) {
    await breathe()
    yield bytes.subarray(at, at + SLICE)
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
