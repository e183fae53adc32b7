import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { type Dialect, sniffDialect } from '#shared/core/csv/form/dialect.ts'
import { headerWithUnits, UnitRecord } from '#shared/core/csv/form/cell-units.ts'
import { CellRecord, type TableRecord } from '#shared/core/csv/record.ts'
import type { Encoding } from '#shared/core/csv/row-reader.ts'
import { splitRecords } from './split-records.ts'

/** Number of bytes from which encoding and dialect are detected. */
const HEAD_BYTES = 64 * 1024
/** Bytes read from disk at once. */
const CHUNK_BYTES = 256 * 1024

/** The form of a file, detected from its beginning. */
export type TableForm = Dialect & { encoding: Encoding; encodingGuessed: boolean; empty: boolean; isText: boolean }
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
    // Streaming, so that an incomplete character at the end of the head is no error.
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    return 'utf-8'
  } catch {
    return 'windows-1252'
  }
}

type Form = Pick<TableForm, 'encoding'> & TextForm
type TextForm = { delimiter: string } & Partial<Pick<Dialect, 'headerLine' | 'cellUnits' | 'legend'>>

/** Reads the records of a file from its header on, some at once, in constant memory. @throws UnreadableRecord */
export const readTable = (file: string, form: Form): AsyncIterable<TableRecord[]> =>
  records(createReadStream(file, { highWaterMark: CHUNK_BYTES }), form)

/** @returns cells of the header and of the first rows. @throws UnreadableRecord */
export async function readFirstCells(file: string, form: Form, rows: number): Promise<string[][]> {
  const cells: string[][] = []
  for await (const records of readTable(file, form)) {
    cells.push(...records.slice(0, rows + 1 - cells.length).map(record => record.cells()))
    if (cells.length > rows) break
  }
  return cells
}

/** The same as `readTable` for a text. */
export const readTableText = (text: string, form: TextForm): AsyncIterable<TableRecord[]> =>
  records(pieces(Buffer.from(text)), { ...form, encoding: 'utf-8' })

/** Splits the bytes, so that the parser does not create all records at once, and yields to the event loop after each piece. */
async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += CHUNK_BYTES) {
    yield bytes.subarray(from, from + CHUNK_BYTES)
    await setImmediate()
  }
}

function records(source: AsyncIterable<Buffer>, form: Form): AsyncIterable<TableRecord[]> {
  const { delimiter, encoding, headerLine = 1, cellUnits, legend } = form
  const all = splitRecords(decoded(source, encoding), delimiter)
  const below = headerLine === 1 ? all : fromLine(all, headerLine)
  return cellUnits || legend ? withHeader(below, form) : below
}

/** The header with the names and units that stand elsewhere, and rows without their units. */
async function* withHeader(all: AsyncIterable<TableRecord[]>, { cellUnits, legend }: Form): AsyncGenerator<TableRecord[]> {
  let isHeader = true
  for await (const some of all) {
    const [header] = isHeader ? some : []
    if (header) isHeader = false
    const below = header ? some.slice(1) : some
    const rows = cellUnits ? below.map(record => new UnitRecord(record, cellUnits)) : below
    yield header ? [headerRecord(header, cellUnits, legend), ...rows] : rows
  }
}

function headerRecord(header: TableRecord, units: Dialect['cellUnits'], legend: Dialect['legend']): TableRecord {
  const named = header.cells().map(cell => legend?.get(cell.trim()) ?? cell)
  return new CellRecord(units ? headerWithUnits(named, units) : named, header.line)
}

async function* fromLine(all: AsyncIterable<TableRecord[]>, first: number): AsyncGenerator<TableRecord[]> {
  for await (const some of all) yield some[0] && some[0].line < first ? some.filter(({ line }) => line >= first) : some
}

async function* decoded(source: AsyncIterable<Buffer>, encoding: Encoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding)
  for await (const chunk of source) yield decoder.decode(chunk, { stream: true })
  yield decoder.decode()
}
