import test from 'ava'
import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { type CsvRecord, splitRecords, TOLERANT_CSV, UnreadableRecord } from '#shared/central/import/split-records.ts'

async function* inPieces(pieces: string[]): AsyncGenerator<string> {
  yield* pieces
}

/** The records, or why one cannot be read. */
async function split(pieces: string[], delimiter: string): Promise<CsvRecord[] | UnreadableRecord> {
  try {
    const records: CsvRecord[] = []
    for await (const some of splitRecords(inPieces(pieces), delimiter))
      records.push(...some.map(record => ({ cells: record.cells(), line: record.line })))
    return records
  } catch (error) {
    if (error instanceof UnreadableRecord) return error
    throw error
  }
}

/** What the parser alone reads; undefined where a record cannot be read. */
function parsed(text: string, delimiter: string): CsvRecord[] | undefined {
  try {
    return parse(text, { ...TOLERANT_CSV, delimiter }) as unknown as CsvRecord[]
  } catch (error) {
    if (error instanceof CsvError) return undefined
    throw error
  }
}

test('records are those of the parser, with their lines, wherever the text is cut', async t => {
  const token = fc.constantFrom('\r\n', '\n', '\r', ',', ';', ' ', '1.5', 'SA-T', '"', '"a,\nb"', 'ß')
  const piece = fc.array(token, { maxLength: 8 }).map(tokens => tokens.join(''))
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), fc.constantFrom(',', ';'), async (pieces, delimiter) => {
      const records = await split(pieces, delimiter)
      t.deepEqual(records instanceof UnreadableRecord ? undefined : records, parsed(pieces.join(''), delimiter))
    }),
    { numRuns: 3000 },
  )
})

test('an error names the line on which the record begins, not the end of the file', async t => {
  for (const end of ['\n', '\r\n']) {
    const plain = `time,a${end}`.repeat(40)
    const error = await split([plain, `x,"closed"${end}`, `x,"never closed${end}${`1,2${end}`.repeat(500)}`], ',')
    t.like(error, { line: 42, message: 'a quote is not closed' })
  }
})

test('a record without end is refused', async t => {
  const long = 'x'.repeat(300_000)
  t.like(await split(['a,b\n', ...Array.from({ length: 5 }, () => long)], ','), {
    line: 2,
    message: 'the record has more than 1048576 bytes; perhaps a quote is not closed',
  })
})

test('a reader that stops early closes what it reads from', async t => {
  for (const piece of ['a,b\nc,d\n', '"a",b\nc,d\n']) {
    let open = true
    async function* endless(): AsyncGenerator<string> {
      try {
        while (true) yield piece
      } finally {
        open = false
      }
    }
    for await (const some of splitRecords(endless(), ',')) if (some.length > 0) break
    t.false(open)
  }
})
