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
import { UnreadableRecord } from './split-records.ts'

/** A header of times in UTC: `timestamp_utc`, `Time (UTC)`. */
const UTC_HEADER = /(^|[^a-z])utc([^a-z]|$)/i

/** The equipment of a table and its column map; weather has none. */
export type Owner = {
  equipment_id: string
  equipment_type: EquipmentType
  map: ColumnMap | undefined
  notes?: ColumnNotes
}

/** What one equipment reads from a table. */
type TablePart = {
  /** Path of the table within the package, for the checks. */
  path: string
  owner: Owner
  /** Points of the equipment that were imported so far. */
  points: Point[]
}
type TableContext = {
  manifest: Pick<Manifest, 'unit_system' | 'date_order'> & { grid_minutes?: number }
  /** Zone of wall clocks; undefined when none is stated. */
  timezone: string | undefined
  /** The last plausible instant, ms. */
  latest: number
  checks: CheckReport
}

/**
 * Scans one table of a package, once for all equipment that has columns in it. These agree on the columns of the time.
 *
 * @param parts at least one
 * @returns one for each part, in their order; none, with a check, when it has no readable header
 */
export async function scanTable(file: string, parts: readonly TablePart[], context: TableContext): Promise<ScannedTable[]> {
  const form = await readTableForm(file)
  return reportForm(parts[0]!.path, form, context.checks) ? scanLines({ file, form }, readTable(file, form), parts, context) : []
}

/** The same for given records. @param source the file, or another name by which tables of the same records are told */
export async function scanLines(
  { file, form }: { file: string; form: TableForm },
  lines: AsyncIterable<TableRecord[]>,
  parts: readonly TablePart[],
  context: TableContext,
): Promise<ScannedTable[]> {
  const { checks } = context
  const { path } = parts[0]!
  let opened: OpenedTable | undefined
  let timezone = context.timezone
  let zoneKnown = true
  try {
    for await (const records of lines) {
      for (const record of records) {
        if (!opened) {
          const header = record.cells()
          if (!checkHeader(header, path, checks)) return []
          opened = openTable(header, form, parts, context)
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
    if (!(error instanceof UnreadableRecord)) throw error
    checks.add('row_unreadable', path, 'cannot be read as CSV', { examples: [atLine(error.line, error.message)] })
  }
  if (!opened) return []
  const { names, columns, time } = opened
  const scans = opened.scan.end()
  if (scans[0]!.rows_in === 0) checks.add('no_rows', path, 'has a header and no rows')
  const { encoding, delimiter, decimalComma, headerLine, cellUnits } = form
  const { order, timeline } = scans[0]!
  const read = { encoding, delimiter, decimalComma, order, ambiguous: !timeline, timezone, latest: context.latest }
  const written = { ...(headerLine > 1 && { headerLine }), ...(cellUnits && { cellUnits }) }
  return parts.map(({ path: own, owner: { equipment_id, equipment_type } }, i) => {
    const table = { path: own, ...read, ...written, width: names.length, ...(time && { time }) }
    return { equipment_id, equipment_type, file, table, columns: settled(columns[i]!, scans[i]!.columns), scan: scans[i]! }
  })
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
  /** Of each part. */
  columns: Column[][]
  scan: TableScan
}

function openTable(
  header: string[],
  { decimalComma, timeCells: found }: TableForm,
  parts: readonly TablePart[],
  context: TableContext,
): OpenedTable {
  const { manifest, timezone, latest, checks } = context
  const [{ path, owner }] = parts as [TablePart]
  const names = nameColumns(header, path)
  const seen = new Set<string>()
  const twice = names.find(name => seen.size === seen.add(name).size)
  if (twice !== undefined) checks.add('header_duplicate', path, 'headers occur more than once', { examples: [twice] })
  const time = timeCells(names, found, { map: owner.map, place: path, checks })
  const isUtc = (time ?? [0]).some(i => UTC_HEADER.test(names[i]!))
  const columns = parts.map(({ path: place, owner: { equipment_type: equipmentType, map, notes }, points }) =>
    planColumns(names, time, {
      ...{ place, equipmentType, map, points, checks },
      ...(notes && { notes }),
      unitSystem: manifest.unit_system,
    }),
  )
  const scan = createTableScan({
    parts: parts.map((part, i) => ({ place: part.path, columns: columns[i]! })),
    width: names.length,
    time,
    decimalComma,
    local: timezone === undefined || isUtc ? undefined : localClock(timezone),
    dateOrder: owner.map?.date_order ?? manifest.date_order,
    latest,
    gridMinutes: manifest.grid_minutes,
    checks,
  })
  return { names, time, isUtc, columns, scan }
}

/** Reports the detected form of a file. @returns whether it can be read */
function reportForm(path: string, form: TableForm, checks: CheckReport): boolean {
  const { empty, isText, encodingGuessed, encoding, delimiter, decimalComma, headerLine, cellUnits = [] } = form
  if (empty) checks.add('no_rows', path, 'is empty')
  else if (!isText) checks.add('row_unreadable', path, 'is not a text file')
  if (empty || !isText) return false
  if (encodingGuessed) checks.add('encoding_guessed', path, `is not UTF-8 and is read as ${encoding}`)
  if (delimiter !== ',' || decimalComma) {
    const numbers = decimalComma ? ' and decimal commas' : ''
    checks.add('delimiter_guessed', path, `has ${JSON.stringify(delimiter)} between cells${numbers}`)
  }
  const units = [...new Set(cellUnits.filter(unit => unit !== null))]
  if (units.length > 0) checks.add('unit_from_cells', path, `has units in its cells: ${units.join(', ')}`)
  if (headerLine > 1) checks.add('header_found', path, `has its header on line ${headerLine}; the lines before it are left out`)
  return true
}
