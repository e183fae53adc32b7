/** Reads labelled data sets: wide CSV files as published, and a `labels.csv` that says what was wrong on which day. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { readCell } from '#shared/core/csv/cell.ts'
import { roleOfHeader, withoutUnit } from '#shared/core/csv/header-names.ts'
import { meaningOf, openTimeline } from '#shared/core/csv/timeline.ts'
import { INSTANT_END } from '#shared/core/time.ts'
import { parseTimestamp } from '#shared/core/csv/timestamp.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { UNITS, unitCode } from '#shared/core/model/unit.ts'

/** Label of one equipment and one day. `component` is `normal` on a day without a fault. */
export type Label = { file: string; date: string; component: string }

type LabelledColumn = { role: string; unit: string; values: Float64Array }
/** One equipment's history: instants in UTC of the wall clock as published, and a column for each role. */
export type LabelledSet = { name: string; ts: Float64Array; columns: LabelledColumn[] }

/** Units of columns that state none. Published sets of this kind come from US systems. */
const US_UNITS: Record<string, string> = { temperature: 'degF', pressure: 'inwc', flow: 'cfm' }
/** A signal column that states no unit and goes beyond this is in percent. */
const FRACTION_MAX = 1.5
/** A pressure column that states no unit and goes beyond this many inches of water is in Pa. */
const INWC_MAX = 20
const ISO_DATE = /^\d{4}-\d{2}-\d{2}$/
/** The component of a day that only serves as history of the days after it. */
const HISTORY_ONLY = 'baseline'

/** @returns the rows of `labels.csv` that say whether a day was normal or faulty, in its order */
export function readLabels(dir: string): Label[] {
  const [header = [], ...rows] = records(readFileSync(join(dir, 'labels.csv')))
  const at = (name: string) => header.findIndex(cell => cell.trim() === name)
  const [file, date, component] = [at('file'), at('date'), at('component')]
  if (file < 0 || date < 0 || component < 0) throw new Error('labels.csv needs the columns file, date and component')
  const labels = rows.map((row, i) => {
    const cell = (index: number) => (row[index] ?? '').trim()
    if (!ISO_DATE.test(cell(date))) throw new Error(`labels.csv, line ${i + 2}: ${cell(date)} is no date such as 2026-03-01`)
    return { file: cell(file), date: cell(date), component: cell(component) || 'normal' }
  })
  return labels.filter(label => label.component !== HISTORY_ONLY)
}

/**
 * @param name as `labels.csv` has it: the file's name without `.csv` or `.csv.gz`
 * @returns the set; columns whose header names no role are left out
 */
export function readLabelled(dir: string, name: string, type: EquipmentType): LabelledSet {
  const path = [`${name}.csv`, `${name}.csv.gz`, name].map(file => join(dir, file)).find(existsSync)
  if (path === undefined) throw new Error(`${join(dir, name)}.csv is named in labels.csv and is not there`)
  const bytes = readFileSync(path)
  const [header = [], ...rows] = records(path.endsWith('.gz') ? gunzipSync(bytes) : bytes)
  const ts = readTimes(
    rows.map(row => row[0]!),
    path,
  )
  const seen = new Set<string>()
  const columns = header.slice(1).flatMap((text, i): LabelledColumn[] => {
    const role = roleOfHeader(text.trim(), type)
    if (role === undefined || seen.has(role)) return []
    seen.add(role)
    const values = Float64Array.from(rows, row => toNumber(row[i + 1] ?? ''))
    return [{ role, unit: unitOf(text, role, values), values }]
  })
  return { name, ts, columns }
}

const records = (bytes: Buffer): string[][] =>
  parse(bytes, { bom: true, relax_column_count: true, skip_empty_lines: true }) as string[][]

function toNumber(cell: string): number {
  const value = readCell(cell, false)
  return typeof value === 'number' ? value : Number.NaN
}

function readTimes(cells: string[], path: string): Float64Array {
  const timeline = openTimeline(undefined, undefined, INSTANT_END)
  for (const [row, cell] of cells.entries()) timeline.add(cell, row + 2)
  const end = timeline.end()
  if ('ambiguous' in end) throw new Error(`${path}: ${end.ambiguous}`)
  return Float64Array.from(cells, (cell, row) => {
    const meaning = meaningOf(parseTimestamp(cell), end.order ?? 'mdy', undefined, INSTANT_END)
    if (typeof meaning !== 'number') throw new Error(`${path}: line ${row + 2} has no readable time`)
    return meaning
  })
}

function unitOf(header: string, role: string, values: Float64Array): string {
  const stated = unitCode(withoutUnit(header).unit ?? '-')
  if (stated) return stated
  const { unit } = ROLES[role]!
  const { dimension } = UNITS[unit]!
  if (dimension === 'fraction') return values.some(value => value > FRACTION_MAX) ? 'percent' : 'fraction'
  if (dimension === 'pressure' && values.some(value => value > INWC_MAX)) return 'Pa'
  return US_UNITS[dimension] ?? unit
}
