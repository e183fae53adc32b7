/** Turns uploaded tables with one value a row into tables with one time a row, which is what everything after it reads. */
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { withoutUnit } from '#shared/core/csv/header-names.ts'
import { type LongForm, longForm } from '#shared/core/csv/form/long-table.ts'
import { TABLE_NAME } from '#shared/core/csv/package-files.ts'
import type { TableRecord } from '#shared/core/csv/record.ts'
import { parseTimestamp } from '#shared/core/csv/timestamp.ts'
import { unitCode } from '#shared/core/model/unit.ts'
import { Problem } from '#shared/core/problem.ts'
import type { PackageFile } from '#shared/node/zip.ts'
import { readFirstCells, readTable, readTableForm } from './read-table.ts'
import { UnreadableRecord } from './split-records.ts'

/** Values of one table, which are held while it is turned: some 100 MB. */
const VALUES_MAX = 1_000_000
/** Cells of a turned table, most of them blank where each point has times of its own: a file of some 200 MB. */
const CELLS_MAX = 200_000_000
/** Rows that the form of a table is told from. */
const ROWS_LOOKED = 50

/** A file that was turned says so, because the lines of its report are no longer those of the upload. */
export type StagedFile = PackageFile & { turned?: { columns: number; leftOut: string[] } }

/**
 * @param folder where the turned tables are written
 * @returns the files, each long table with its turned one in its place
 * @throws Problem too_large that names the table
 */
export async function turnLongTables(files: readonly PackageFile[], folder: string): Promise<StagedFile[]> {
  const staged: StagedFile[] = []
  for (const [i, one] of files.entries()) {
    const isTable = TABLE_NAME.test(one.path) && !/(^|\/)columns\.csv$/i.test(one.path)
    staged.push((isTable && (await turned(one, join(folder, `turned-${i}`)))) || one)
  }
  return staged
}

/** @returns undefined for a table that is not long, and for one that cannot be read, which its scan reports */
async function turned(source: PackageFile, target: string): Promise<StagedFile | undefined> {
  const form = await readTableForm(source.file)
  if (form.empty || !form.isText) return
  try {
    const [header = [], ...rows] = await readFirstCells(source.file, form, ROWS_LOOKED)
    const long = longForm(header, rows, form.timeCells)
    if (!long) return
    const table = createTable(source.path, long)
    let isHeader = true
    for await (const records of readTable(source.file, form)) {
      for (const record of isHeader ? records.slice(1) : records) table.add(record)
      isHeader &&= records.length === 0
    }
    await pipeline(Readable.from(table.lines(form.delimiter === ',' ? ',' : ';')), createWriteStream(target, { flags: 'wx' }))
    return { path: source.path, file: target, turned: { columns: table.columns(), leftOut: long.leftOut } }
  } catch (error) {
    if (error instanceof UnreadableRecord) return
    throw error
  }
}

function createTable(path: string, { time, name, value, unit }: LongForm) {
  const columns = new Map<string, number>()
  const rows = new Map<string, string[]>()
  let values = 0
  return {
    add(record: TableRecord): void {
      const cells = record.cells()
      if (++values > VALUES_MAX) {
        throw new Problem('too_large', `${path} has one value a row and more than ${VALUES_MAX} of them; split it by time`)
      }
      const header = headerOf(cells[name] ?? '', unit === undefined ? undefined : cells[unit])
      const column = columns.get(header) ?? columns.size
      if (column === columns.size) columns.set(owned(header), column)
      const at = time.map(i => (cells[i] ?? '').trim()).join(' ')
      const row = rows.get(at) ?? []
      if (row.length === 0) rows.set(owned(at), row)
      row[column] = owned(cells[value] ?? '')
      if (columns.size * rows.size > CELLS_MAX) {
        throw new Problem(
          'too_large',
          `${path} would have more than ${CELLS_MAX} cells with a column for each name; split it by name`,
        )
      }
    },
    columns: () => columns.size,
    *lines(delimiter: string): Generator<string> {
      const line = (cells: Iterable<string>) => `${[...cells].map(cell => quoted(cell, delimiter)).join(delimiter)}\r\n`
      yield line(['Time', ...columns.keys()])
      for (const [at, row] of inOrder([...rows])) yield line([at, ...Array.from(columns.values(), i => row[i] ?? '')])
    },
  }
}

/** A part of a text holds all of it in memory; a copy does not. */
const owned = (text: string): string => Buffer.from(text).toString()

function headerOf(name: string, unit: string | undefined): string {
  const bare = name.trim()
  const code = unit === undefined || withoutUnit(bare).unit !== undefined ? undefined : unitCode(unit)
  return code === undefined || unit!.trim() === '' ? bare : `${bare} (${code})`
}

const quoted = (cell: string, delimiter: string): string =>
  /["\r\n]/.test(cell) || cell.includes(delimiter) ? `"${cell.replaceAll('"', '""')}"` : cell

/** By time where no time can be read in two ways; otherwise as they came, because the scan asks for the order of day and month. */
function inOrder(rows: [string, string[]][]): [string, string[]][] {
  const times = new Map(rows.map(([at]) => [at, parseTimestamp(at)]))
  const isClear = [...times.values()].every(time => time === undefined || time.mdy === time.dmy)
  const ms = (at: string) => times.get(at)?.mdy ?? Number.POSITIVE_INFINITY
  return isClear ? rows.toSorted(([a], [b]) => ms(a) - ms(b) || 0) : rows
}
