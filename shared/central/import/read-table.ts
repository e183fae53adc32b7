import { type Options, parse } from 'csv-parse'
import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline, Readable, Transform } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { type Dialect, sniffDialect } from '#shared/core/csv/dialect.ts'
import type { Encoding } from '#shared/core/csv/row-reader.ts'

/** Bytes of a file by which its encoding and dialect are told. */
const HEAD_BYTES = 64 * 1024
/** Longest record: thousands of columns fit; an unclosed quote does not swallow the file. */
const RECORD_MAX = 1024 * 1024
/** Read from disk at once. */
const CHUNK_BYTES = 256 * 1024

/** How a file is written, from its beginning. */
export type TableForm = Dialect & { encoding: Encoding; encodingGuessed: boolean; empty: boolean; isText: boolean }
/** A record and the line on which it ends. */
export type TableRecord = { cells: string[]; line: number }

/** How tables that people and tools wrote are parsed: a record is a `Line`. */
export const TOLERANT_CSV: Options = {
  bom: true,
  // Stated, not found: the parser would take the first one it meets for all, and files are glued from several systems.
  record_delimiter: ['\r\n', '\n', '\r'],
  relax_column_count: true,
  relax_quotes: true,
  skip_empty_lines: true,
  on_record: (cells, { lines }) => ({ cells, line: lines }) as never, // the types know only lists of texts
}

/** @throws Error when the file cannot be read */
export async function readTableForm(file: string): Promise<TableForm> {
  const handle = await open(file)
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    const head = buffer.subarray(0, bytesRead)
    return detectForm(head)
  } finally {
    await handle.close()
  }
}

export function detectForm(head: Buffer): TableForm {
  const encoding = encodingOf(head)
  const text = new TextDecoder(encoding).decode(head)
  const guessed = encoding === 'windows-1252'
  return { ...sniffDialect(text), encoding, encodingGuessed: guessed, empty: text.trim() === '', isText: !text.includes('\0') }
}

function encodingOf(head: Buffer): Encoding {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le'
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be'
  try {
    // Streaming, so that a character cut off at the end of the head is no error.
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    return 'utf-8'
  } catch {
    return 'windows-1252'
  }
}

type Form = { delimiter: string; encoding: Encoding }

/** Records of a file one by one, in constant memory. @throws CsvError with a line when a record cannot be read */
export const readTable = (file: string, form: Form): AsyncIterable<TableRecord> =>
  records(createReadStream(file, { highWaterMark: CHUNK_BYTES }), form)

/** The same of a text. */
export const readTableText = (text: string, delimiter: string): AsyncIterable<TableRecord> =>
  records(Readable.from(pieces(Buffer.from(text))), { delimiter, encoding: 'utf-8' })

/** In pieces, so that the parser does not make all records at once, and with a rest after each for whatever else waits. */
async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
    yield bytes.subarray(from, from + CHUNK_BYTES)
    await setImmediate()
  }
}

/** An error reaches whoever reads from the parser. */
const told = () => undefined

function records(source: Readable, { delimiter, encoding }: Form): AsyncIterable<TableRecord> {
  const parser = parse({
    ...TOLERANT_CSV,
    delimiter,
    max_record_size: RECORD_MAX,
  })
  if (encoding === 'utf-8') pipeline(source, parser, told)
  else pipeline(source, transcoder(encoding), parser, told)
  return parser as AsyncIterable<TableRecord>
}

function transcoder(encoding: Encoding): Transform {
  const decoder = new TextDecoder(encoding)
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => done(null, Buffer.from(decoder.decode(chunk, { stream: true }))),
    flush: done => done(null, Buffer.from(decoder.decode())),
  })
}
