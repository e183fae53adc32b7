/** Scans one table row by row, in constant memory, and reports its content, also where several equipment have columns in it. */
import type { PointKind } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { MINUTE } from '#shared/core/time.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { type CellValue, stateNumber, STATES_MAX, statesOf } from './cell.ts'
import { atLine, type CheckReport } from './checks.ts'
import type { Values } from '#shared/core/suggest/evidence.ts'
import { kindOf, takesStates } from './columns.ts'
import type { Column } from './column.ts'
import { settleSpeed } from './command-or-speed.ts'
import type { Meaning } from './local-clock.ts'
import { type TableRecord, timeText } from './record.ts'
import type { DateOrder } from './timestamp.ts'
import { openTimeline, type Timeline } from './timeline.ts'

/** From this share of values outside the range of the role on, the unit is reported as implausible. */
const IMPLAUSIBLE_SHARE = 0.2
const EXAMPLES = 3

/** A column with values to store, and statistics of its cells. */
export type ScannedColumn = Column & {
  kind: PointKind
  states: string[] | undefined
  /** For a column of numbers. */
  values?: Values
}

export type ScanResult = {
  /** Rows below the header, readable or not. */
  rows_in: number
  rows_rejected: number
  order: DateOrder | undefined
  /** Undefined when the order of day and month is unknown. */
  timeline: Timeline | undefined
  columns: ScannedColumn[]
}

/** The columns of one equipment. */
type ScanPart = {
  /** Path of its table, for the checks. */
  place: string
  columns: Column[]
}

type ScanOptions = {
  /** At least one. What is wrong with rows is reported at the first. */
  parts: readonly ScanPart[]
  /** Cells of the header. */
  width: number
  /** Cells of the time; undefined for the first one. */
  time: readonly number[] | undefined
  decimalComma: boolean
  /** Converts a wall clock; undefined for a table in UTC. */
  local: ((wallMs: number) => Meaning) | undefined
  dateOrder: DateOrder | undefined
  /** The last plausible instant, ms. */
  latest: number
  /** The interval stated in the manifest, if any. */
  gridMinutes: number | undefined
  checks: CheckReport
}

/** @returns whether a row has the cells of the header; additional blank ones are accepted */
export function fitsWidth(record: TableRecord, width: number): boolean {
  const found = record.width()
  return (
    found === width ||
    (found > width &&
      record
        .cells()
        .slice(width)
        .every(cell => cell.trim() === ''))
  )
}

export type TableScan = {
  /** Adds one row. */
  row(record: TableRecord): void
  /** One result for each part, in their order; rows and times are those of the whole table. */
  end(): ScanResult[]
}

export function createTableScan(options: ScanOptions): TableScan {
  const { parts, width, time, decimalComma, local, dateOrder, latest, checks } = options
  const { place } = parts[0]!
  const timeline = openTimeline(local, dateOrder, latest)
  const counted = parts.flatMap(part => part.columns.map(column => openColumn(column, part)))
  let rows = 0
  let lastBad: { line: number; cells: number } | undefined

  return {
    row(record) {
      const { line } = record
      if (lastBad)
        checks.add('row_width', place, `rows do not have ${width} cells`, {
          examples: [atLine(lastBad.line, String(lastBad.cells))],
        })
      lastBad = fitsWidth(record, width) ? undefined : { line, cells: record.width() }
      rows++
      if (lastBad) return
      timeline.add(timeText(record, time), line)
      for (const { column, seen, asSpeed } of counted) {
        const cell = record.value(column.index, decimalComma)
        seen.take(cell, line)
        asSpeed?.take(cell, line)
      }
    },
    end() {
      if (lastBad)
        checks.add('row_truncated', place, 'the last row is cut off', {
          examples: [atLine(lastBad.line, `${lastBad.cells} of ${width} cells`)],
        })
      const read = timeline.end()
      const kept = parts.map(part => {
        const own = counted.filter(one => one.part === part).flatMap(one => endColumn(one, checks))
        if (rows > 0 && own.length === 0)
          checks.add('no_numeric_columns', part.place, 'no column contains numbers or state texts')
        return own
      })
      if ('ambiguous' in read) {
        checks.add('timestamp_ambiguous', place, 'day and month cannot be distinguished; state date_order', {
          examples: [read.ambiguous],
          severity: 'error',
        })
        return kept.map(columns => ({ rows_in: rows, rows_rejected: rows, order: undefined, timeline: undefined, columns }))
      }
      const { order, timeline: times } = read
      if (rows > 0) reportTimes(times, place, options)
      return kept.map(columns => ({ rows_in: rows, rows_rejected: rows - times.rows, order, timeline: times, columns }))
    },
  }
}

type CellCounter = ReturnType<typeof openCells>
type CountedColumn = { column: Column; part: ScanPart; seen: CellCounter; asSpeed: CellCounter | undefined }
type SettleOptions = { place: string; checks: CheckReport }

const openColumn = (column: Column, part: ScanPart): CountedColumn => ({
  column,
  part,
  seen: openCells(column),
  asSpeed: column.speed && openCells({ ...column, ...column.speed }),
})

function endColumn({ column, part: { place }, seen, asSpeed }: CountedColumn, checks: CheckReport): ScannedColumn[] {
  const isSpeed = asSpeed !== undefined && seen.end().between > 0
  return settle(settleSpeed(column, isSpeed, checks), (isSpeed ? asSpeed : seen).end(), { place, checks })
}

type CellCount = {
  /** Number of cells that are not blank. */
  filled: number
  numbers: number
  outside: number
  /** Number of values other than 0 and 1. */
  between: number
  min: number
  max: number
  /** State text → number of cells; undefined when there are too many different texts. */
  texts: Map<string, number> | undefined
  textCount: number
  examples: string[]
}

function openCells(column: Column) {
  const range = column.role === undefined ? undefined : ROLES[column.role]!.range
  const way = column.role === undefined ? undefined : conversion(column.unit, ROLES[column.role]!.unit)
  const count: CellCount = {
    filled: 0,
    numbers: 0,
    outside: 0,
    between: 0,
    min: Number.POSITIVE_INFINITY,
    max: Number.NEGATIVE_INFINITY,
    texts: new Map(),
    textCount: 0,
    examples: [],
  }
  return {
    take(value: CellValue, line: number): void {
      if (value !== undefined) count.filled++
      if (typeof value === 'string') takeText(count, value, line, column.header)
      if (typeof value !== 'number' || Number.isNaN(value)) return
      count.numbers++
      if (value !== 0 && value !== 1) count.between++
      if (value < count.min) count.min = value
      if (value > count.max) count.max = value
      if (!range || !way) return
      const canonical = value * way.scale + way.offset
      if (canonical < range[0] || canonical > range[1]) count.outside++
    },
    end: () => count,
  }
}

function takeText(count: CellCount, text: string, line: number, header: string): void {
  count.textCount++
  if (count.examples.length < EXAMPLES) count.examples.push(atLine(line, text.slice(0, 40), header))
  count.texts?.set(text, (count.texts.get(text) ?? 0) + 1)
  if (count.texts && count.texts.size > STATES_MAX) count.texts = undefined
}

/** The scanned column; none when it has no value to store. */
function settle(column: Column, count: CellCount, options: SettleOptions): ScannedColumn[] {
  const canBeStates = takesStates(column)
  return canBeStates && count.textCount > count.numbers
    ? settleStates(column, count, options)
    : settleNumbers(column, count, options, canBeStates ? column.point?.states : undefined)
}

function settleStates(column: Column, count: CellCount, { checks, place }: SettleOptions): ScannedColumn[] {
  const { header, role, point, unit } = column
  const { states, known } = statesOf([...(count.texts?.keys() ?? [])], point?.states)
  if (!count.texts || states.length > STATES_MAX) {
    checks.add('states_too_many', place, 'columns contain free text', { examples: count.examples.slice(0, 1) })
    return []
  }
  const example = `${header}: ${states.map((text, i) => `${i} = ${text}`).join(', ')}`
  checks.add('text_states', place, 'texts are stored as states', { examples: [example] })
  if (role !== undefined && ROLES[role]!.kind === 'bool' && !known) {
    checks.add('states_order_unknown', place, `it is unknown which text of ${role} means on`, { examples: [example] })
  }
  const own = unit === 'count' ? (states.length === 2 ? 'bool' : 'enum') : unit
  return [{ ...column, unit: own, historyUnit: point?.unit ?? own, kind: kindOf(role, own, states), states }]
}

function settleNumbers(
  column: Column,
  { numbers, filled, texts, textCount, examples, outside, min, max, between }: CellCount,
  { checks, place }: SettleOptions,
  states: string[] | undefined,
): ScannedColumn[] {
  const { header, role, point, unit } = column
  const unread = states && texts ? countUnknown(texts, states) : textCount
  // A numeric column may have no values in one chunk; a column without any number is an error.
  const isWrong = numbers === 0 && !point
  if (unread > 0) {
    const severity = isWrong ? 'error' : 'warning'
    checks.add('value_unreadable', place, 'cells are no numbers and are stored as missing', { examples, count: unread, severity })
  }
  if (numbers === 0 && (filled === 0 || !point)) {
    if (role !== undefined) checks.add('column_empty', place, 'mapped columns have no value', { examples: [header] })
    return []
  }
  if (outside / numbers > IMPLAUSIBLE_SHARE) {
    const example = `${header}: ${min} to ${max} ${unit} for ${role}`
    const severity = column.unitStated ? 'warning' : 'error'
    checks.add('unit_implausible', place, 'values do not fit their role in this unit', { examples: [example], severity })
  }
  const values = numbers > 0 ? { min, max, isOnOff: between === 0 } : undefined
  return [{ ...column, kind: kindOf(role, unit, undefined), states, ...(values && { values }) }]
}

/** Number of texts in a numeric column that are no state of its point. */
function countUnknown(texts: Map<string, number>, states: string[]): number {
  let unknown = 0
  for (const [text, count] of texts) if (Number.isNaN(stateNumber(states, text))) unknown += count
  return unknown
}

function reportTimes(times: Timeline, place: string, { checks, gridMinutes }: ScanOptions): void {
  const kinds = [
    ['timestamp_unreadable', times.unreadable, 'timestamps cannot be read; their rows are left out'],
    ['timestamp_ambiguous', times.twice, 'local times occur twice on that day; their rows are left out'],
    ['timestamp_skipped', times.skipped, 'local times do not exist on that day; their rows are left out'],
    ['timestamp_misdated', times.misdated, 'timestamps are before 2000 or later than the present time; their rows are left out'],
    ['timestamp_duplicate', times.duplicate, 'timestamps occur more than once; the last row is stored'],
    ['timestamp_out_of_order', times.outOfOrder, 'timestamps go back'],
    ['timestamp_gap', times.gaps, 'gaps are longer than three steps'],
  ] as const
  for (const [code, { count, examples }, message] of kinds) {
    if (count > 0) checks.add(code, place, message, { count, examples })
  }
  const grid = times.step === undefined ? undefined : times.step / MINUTE
  if (grid !== undefined && gridMinutes !== undefined && grid !== gridMinutes) {
    checks.add('grid_differs', place, `the interval is ${Number(grid.toFixed(2))} min, in the manifest ${gridMinutes}`)
  }
  if (times.rows === 0) checks.add('no_rows', place, 'has no row with a readable timestamp')
}
