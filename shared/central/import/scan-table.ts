import { CsvError } from 'csv-parse'
import { atLine, type CheckReport } from '#shared/core/csv/checks.ts'
import { checkHeader, nameColumns, planColumns, timeCells } from '#shared/core/csv/columns.ts'
import type { Column } from '#shared/core/csv/column.ts'
import type { ColumnNotes } from '#shared/core/csv/column-list.ts'
import { localClock } from '#shared/core/csv/local-clock.ts'
import type { ColumnMap, Manifest } from '#shared/core/csv/package-json.ts'
import type { ScannedTable } from '#shared/core/csv/package-plan.ts'
import { type TableRecord, timeText } from '#shared/core/csv/record.ts'
import { createTableScan, fitsWidth, type TableScan } from '#shared/core/csv/table-scan.ts'
import { parseTimestamp } from '#shared/core/csv/timestamp.ts'
import type { EquipmentType, Point } from '#shared/core/model/model.ts'
import { readTable, type TableForm, readTableForm } from './read-table.ts'

/** A header of times in UTC: `timestamp_utc`, `Time (UTC)`. */
const UTC_HEADER = /(^|[^a-z])utc([^a-z]|$)/i

/** The equipment of a table and its column map; weather has none. */
export type Owner = {
  equipment_id: string
  equipment_type: EquipmentType
  map: ColumnMap | undefined
  notes?: ColumnNotes
}

type TableContext = {
  owner: Owner
  manifest: Pick<Manifest, 'unit_system' | 'date_order'> & { grid_minutes?: number }
  /** Zone of wall clocks; undefined when none is stated. */
  timezone: string | undefined
  /** Points of the equipment that were imported so far. */
  points: Point[]
  /** The last plausible instant, ms. */
  latest: number
  checks: CheckReport
}

/** Scans one table of a package. @returns undefined, with a check, when it has no readable header */
export async function scanTable(path: string, file: string, context: TableContext): Promise<ScannedTable | undefined> {
  const form = await readTableForm(file)
  return reportForm(path, form, context.checks) ? scanLines(path, form, readTable(file, form), context) : undefined
}

/** The same for given records. */
export async function scanLines(path: string, form: TableForm, lines: AsyncIterable<TableRecord[]>, context: TableContext) {
  const { checks, owner } = context
  let opened: OpenedTable | undefined
  let timezone = context.timezone
  let zoneKnown = true
  try {
    for await (const records of lines) {
      for (const record of records) {
        if (!opened) {
          const header = record.cells()
          if (!checkHeader(header, path, checks)) return undefined
          opened = openTable(header, path, form, context)
          if (opened.isUtc) timezone = undefined
          else zoneKnown = timezone !== undefined
          continue
        }
        if (!zoneKnown && hasTime(record, opened) && parseTimestamp(timeText(record, opened.time))?.offset === undefined) {
          const examples = [timeText(record, opened.time)]
          checks.add('timezone_missing', path, 'times are local and no time zone is stated', { examples })
          zoneKnown = true
        }
        opened.scan.row(record)
      }
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    checks.add('row_unreadable', path, 'cannot be read as CSV', { examples: [atLine(error['lines'] as number, error.message)] })
  }
  if (!opened) return undefined
  const { names, columns, time } = opened
  const scan = opened.scan.end()
  if (scan.rows_in === 0) checks.add('no_rows', path, 'has a header and no rows')
  const { equipment_id, equipment_type } = owner
  const { encoding, delimiter, decimalComma } = form
  const { order, timeline } = scan
  const table = {
    path,
    equipment_id,
    encoding,
    delimiter,
    decimalComma,
    order,
    ambiguous: !timeline,
    timezone,
    latest: context.latest,
    width: names.length,
    ...(time && { time }),
  }
  return { equipment_id, equipment_type, table, columns: settled(columns, scan.columns), scan }
}

/** A short record may end before its time. */
const hasTime = (record: TableRecord, { time, names }: OpenedTable): boolean =>
  time === undefined || fitsWidth(record, names.length)

/** Columns with the roles that their values have decided. */
function settled(columns: Column[], scanned: Column[]): Column[] {
  const known = new Map(scanned.map(column => [column.index, column]))
  return columns.map(column => (column.speed && known.get(column.index)) ?? column)
}

type OpenedTable = {
  names: string[]
  /** Cells of the time; undefined for the first one. */
  time: readonly number[] | undefined
  isUtc: boolean
  columns: Column[]
  scan: TableScan
}

function openTable(header: string[], path: string, { decimalComma }: TableForm, context: TableContext): OpenedTable {
  const { owner, manifest, timezone, points, latest, checks } = context
  const names = nameColumns(header, path)
  const seen = new Set<string>()
  const twice = names.find(name => seen.size === seen.add(name).size)
  if (twice !== undefined) checks.add('header_duplicate', path, 'headers occur more than once', { examples: [twice] })
  const { equipment_type: equipmentType, map, notes } = owner
  const said = { map, ...(notes && { notes }) }
  const time = timeCells(names, { map, place: path, checks })
  const isUtc = (time ?? [0]).some(i => UTC_HEADER.test(names[i]!))
  const columns = planColumns(names, time, {
    place: path,
    equipmentType,
    ...said,
    unitSystem: manifest.unit_system,
    points,
    checks,
  })
  const local = timezone === undefined || isUtc ? undefined : localClock(timezone)
  const dateOrder = map?.date_order ?? manifest.date_order
  const gridMinutes = manifest.grid_minutes
  const scan = createTableScan({
    place: path,
    columns,
    width: names.length,
    time,
    decimalComma,
    local,
    dateOrder,
    latest,
    gridMinutes,
    checks,
  })
  return { names, time, isUtc, columns, scan }
}

/** Reports the detected form of a file. @returns whether it can be read */
function reportForm(path: string, form: TableForm, checks: CheckReport): boolean {
  const { empty, isText, encodingGuessed, encoding, delimiter, decimalComma } = form
  if (empty) checks.add('no_rows', path, 'is empty')
  else if (!isText) checks.add('row_unreadable', path, 'is not a text file')
  if (empty || !isText) return false
  if (encodingGuessed) checks.add('encoding_guessed', path, `is not UTF-8 and is read as ${encoding}`)
  if (delimiter !== ',') {
    const numbers = decimalComma ? ' and decimal commas' : ''
    checks.add('delimiter_guessed', path, `has ${JSON.stringify(delimiter)} between cells${numbers}`)
  }
  return true
}
