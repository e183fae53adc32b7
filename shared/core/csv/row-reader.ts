/** Converts the rows of a scanned table to history, block by block. */
import type { PointRows } from '#shared/core/ports.ts'
import type { Series } from '#shared/core/series/series.ts'
import { type CellValue, stateNumber } from './cell.ts'
import type { CellUnits } from './form/cell-units.ts'
import type { CheckCode } from './checks.ts'
import type { Meaning } from './local-clock.ts'
import { type TableRecord, timeText } from './record.ts'
import { fitsWidth } from './table-scan.ts'
import { type DateOrder, parseTimestamp } from './timestamp.ts'
import { meaningOf } from './timeline.ts'

export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252'

/** How a table is read, decided by its scan. Plain data, stored between preflight and import. */
export type TablePlan = {
  /** Path within the package. */
  path: string
  encoding: Encoding
  delimiter: string
  decimalComma: boolean
  /** Line of the header; absent where it is the first one. */
  headerLine?: number
  /** Absent where no cell bears a unit. */
  cellUnits?: CellUnits
  order: DateOrder | undefined
  /** The order of day and month is unknown, so no row has an instant. */
  ambiguous: boolean
  /** Zone of the wall clocks; undefined for a table in UTC. */
  timezone: string | undefined
  /** The last plausible instant, ms. It is decided once, so that import and preflight leave out the same rows. */
  latest: number
  width: number
  /** Cells of the time; absent where it is the first one. */
  time?: readonly number[]
  columns: PlannedColumn[]
}
type PlannedColumn = { index: number; point_id: string; scale: number; offset: number; states: string[] | undefined }

/** Why a row is left out. */
type Reject = { code: CheckCode; message: string }

/** The instant of a row, or why it has none. */
export function rowInstant(
  record: TableRecord,
  plan: TablePlan,
  local: ((wallMs: number) => Meaning) | undefined,
): number | Reject {
  if (!fitsWidth(record, plan.width)) return { code: 'row_width', message: `${record.width()} cells instead of ${plan.width}` }
  if (plan.ambiguous) return { code: 'timestamp_ambiguous', message: 'day and month cannot be distinguished; state date_order' }
  const meaning = meaningOf(parseTimestamp(timeText(record, plan.time)), plan.order ?? 'mdy', local, plan.latest)
  switch (meaning) {
    case 'unreadable':
      return { code: 'timestamp_unreadable', message: 'the timestamp cannot be read' }
    case 'misdated':
      return { code: 'timestamp_misdated', message: 'the timestamp is before 2000 or later than the present time' }
    case 'twice':
      return { code: 'timestamp_ambiguous', message: `this local time occurs twice in ${plan.timezone}` }
    case 'skipped':
      return { code: 'timestamp_skipped', message: `this local time does not exist in ${plan.timezone}` }
    default:
      return meaning
  }
}

/** Samples in one block, over all columns: 8 MB of numbers. */
const BLOCK_SAMPLES = 500_000
/** Rows of a block of few columns, so that the first block of a long table is ready soon. */
const BLOCK_ROWS = 20_000

type RowReader = {
  /** Adds a row. @returns the samples of a full block by point, otherwise none */
  row(instant: number, record: TableRecord): PointRows[]
  /** @returns the samples of the last block */
  end(): PointRows[]
  /** @returns number of rows so far that a later row of the same block and instant has replaced */
  replaced(): number
}

export function createRowReader({ columns, decimalComma }: TablePlan): RowReader {
  const rowsMax = Math.max(1, Math.min(BLOCK_ROWS, Math.floor(BLOCK_SAMPLES / Math.max(1, columns.length))))
  const ts = columns.map(() => new Float64Array(rowsMax))
  const values = columns.map(() => new Float64Array(rowsMax))
  const counts = new Uint32Array(columns.length)
  const instants = new Float64Array(rowsMax)
  let rows = 0
  let replaced = 0

  const flush = (): PointRows[] => {
    const block = columns.flatMap(({ point_id }, i) => {
      const n = counts[i]!
      return n === 0 ? [] : [{ point_id, series: sortSeries(ts[i]!.slice(0, n), values[i]!.slice(0, n)) }]
    })
    counts.fill(0)
    replaced += rows - new Set(instants.subarray(0, rows)).size
    rows = 0
    return block
  }

  return {
    row(instant, record) {
      for (let i = 0; i < columns.length; i++) {
        const column = columns[i]!
        const value = toHistory(record.value(column.index, decimalComma), column)
        if (value === undefined) continue
        const n = counts[i]!++
        ts[i]![n] = instant
        values[i]![n] = value
      }
      instants[rows] = instant
      return ++rows < rowsMax ? [] : flush()
    },
    end: flush,
    replaced: () => replaced,
  }
}

/** @returns the stored number; NaN for *no usable value*; undefined for no sample */
function toHistory(cell: CellValue, { scale, offset, states }: PlannedColumn): number | undefined {
  if (cell === undefined) return undefined
  if (typeof cell === 'number') {
    const value = cell * scale + offset
    return Number.isFinite(value) ? value : Number.NaN
  }
  return states ? stateNumber(states, cell) : Number.NaN
}

/** The samples in time order; the last of several samples at one instant counts. */
export function sortSeries(ts: Float64Array, values: Float64Array): Series {
  let sorted = true
  for (let i = 1; i < ts.length && sorted; i++) sorted = ts[i]! > ts[i - 1]!
  if (sorted) return { ts, values }
  const order = Array.from(ts.keys()).toSorted((a, b) => ts[a]! - ts[b]! || a - b)
  const kept = order.filter((row, i) => i === order.length - 1 || ts[order[i + 1]!] !== ts[row])
  return { ts: Float64Array.from(kept, row => ts[row]!), values: Float64Array.from(kept, row => values[row]!) }
}
