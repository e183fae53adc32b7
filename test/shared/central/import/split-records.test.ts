import test from 'ava'
import { CsvError } from 'csv-parse'
import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { type CsvRecord, splitRecords, TOLERANT_CSV } from '#shared/central/import/split-records.ts'

async function* inPieces(pieces: string[]): AsyncGenerator<string> {
  yield* pieces
}

/** The records, or the message of the error. */
async function split(pieces: string[], delimiter: string): Promise<CsvRecord[] | string> {
  try {
    const records: CsvRecord[] = []
    for await (const some of splitRecords(inPieces(pieces), delimiter))
      records.push(...some.map(record => ({ cells: record.cells(), line: record.line })))
    return records
  } catch (error) {
    if (error instanceof CsvError) return error.message
    throw error
  }
}

function parsed(text: string, delimiter: string): CsvRecord[] | string {
  try {
    return parse(text, { ...TOLERANT_CSV, delimiter }) as unknown as CsvRecord[]
  } catch (error) {
    if (error instanceof CsvError) return error.message
    throw error
  }
}

test('records are those of the parser, with their lines, wherever the text is cut', async t => {
  const token = fc.constantFrom('\r\n', '\n', '\r', ',', ';', ' ', '1.5', 'SA-T', '"', '"a,\nb"', 'ß')
  const piece = fc.array(token, { maxLength: 8 }).map(tokens => tokens.join(''))
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), fc.constantFrom(',', ';'), async (pieces, delimiter) => {
      t.deepEqual(await split(pieces, delimiter), parsed(pieces.join(''), delimiter))
    }),
    { numRuns: 3000 },
  )
})

test('an error after plain lines names the line of the file', async t => {
  const plain = 'time,a\n'.repeat(40)
  const message = await split([plain, 'x,"never closed\n1,2\n'], ',')
  t.is(message, parsed(`${plain}x,"never closed\n1,2\n`, ','))
  t.regex(String(message), /at line 4\d/)
})

test('a record without end is refused', async t => {
  const long = 'x'.repeat(300_000)
  t.regex(String(await split(['a,b\n', ...Array.from({ length: 5 }, () => long)], ',')), /Max Record Size/)
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
