/** Reads tables of points as other tools write them; encoding and separator are detected. */
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parse } from 'csv-parse'
import { errorText } from '#shared/core/error-text.ts'
import { detectForm } from '#shared/central/import/read-table.ts'
import { TOLERANT_CSV } from '#shared/central/import/split-records.ts'
import type { PointTable } from '../core/catalogue/table.ts'
import { Problem } from '#shared/core/problem.ts'

/** Longest record: an unclosed quote must not take in the whole file. */
const RECORD_MAX = 64 * 1024
/** Ten devices with as many points as one may have. */
const ROWS_MAX = 100_000
/** Bytes of some two hundred rows, which take a few milliseconds; polling continues between two slices. */
const SLICE = 16 * 1024
/** Lines in which separators are counted: the head of an EDE table alone has too few cells. */
const HEAD_LINES = 200
const SEPARATORS = [';', ',', '\t'] as const

/**
 * @param file its name, for error texts
 * @throws Problem invalid when it is no text or too long, or a record of it cannot be read
 */
export async function readPointTable(file: string, bytes: Buffer): Promise<PointTable> {
  const { encoding, isText } = detectForm(bytes)
  if (!isText) throw new Problem('invalid', `${file} is no table: it is no text`)
  const text = new TextDecoder(encoding).decode(bytes)
  const lines = text.match(/\r\n|\n|\r/g)?.length ?? 0
  if (lines > ROWS_MAX) throw new Problem('invalid', `${file} has ${lines} rows, more than ${ROWS_MAX}; import it in parts`)
  const parser = parse({ ...TOLERANT_CSV, delimiter: separatorOf(text), max_record_size: RECORD_MAX })
  try {
    const rows: PointTable['rows'][number][] = []
    for await (const row of Readable.from(slicesOf(Buffer.from(text))).pipe(parser)) rows.push(row)
    return { file, rows }
  } catch (error) {
    throw new Problem('invalid', `${file} cannot be read: ${errorText(error)}`)
  }
}

async function* slicesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += SLICE) {
    await nextTurn()
    yield bytes.subarray(at, at + SLICE)
  }
}

/** The most frequent separator outside quotes: a row of points has more separators than its texts have commas. */
function separatorOf(text: string): string {
  const head = text
    .split(/\r\n|\n|\r/, HEAD_LINES)
    .join('\n')
    .replaceAll(/"[^"]*"/g, '')
  const counts = SEPARATORS.map(separator => ({ separator, count: head.split(separator).length }))
  return counts.toSorted((a, b) => b.count - a.count)[0]!.separator
}
