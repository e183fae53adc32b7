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
import { type Asked, suggestRoles } from '#shared/core/suggest/suggest.ts'
import { UNITS, unitCode } from '#shared/core/model/unit.ts'

/**
 * Label of one equipment and one day. `component` is `normal` on a day without a fault. `minutes` are given where a day holds
 * several cases: from the first to the last minute of the day that belongs to this one.
 */
export type Label = { file: string; date: string; component: string; minutes?: [number, number] }

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

const MINUTES = /^(\d{2}):(\d{2})-(\d{2}):(\d{2})$/

/** @returns the rows of `labels.csv` that say whether a day, or a case of some minutes, was normal or faulty, in its order */
export function readLabels(dir: string): Label[] {
  const [header = [], ...rows] = records(readFileSync(join(dir, 'labels.csv')))
  const at = (name: string) => header.findIndex(cell => cell.trim() === name)
  const [file, date, component] = [at('file'), at('date'), at('component')]
  if (file < 0 || date < 0 || component < 0) throw new Error('labels.csv needs the columns file, date and component')
  const [truth, window] = [at('truth_inventory'), at('occupied_window')]
  const days = Map.groupBy(rows, row => `${row[file]} ${row[date]}`)
  const judged = truth < 0 ? rows : rows.filter(row => row[truth]?.trim() !== '')
  const labels = judged.map(row => {
    const cell = (index: number) => (row[index] ?? '').trim()
    if (!ISO_DATE.test(cell(date)))
      throw new Error(`labels.csv, line ${rows.indexOf(row) + 2}: ${cell(date)} is no date such as 2026-03-01`)
    const label: Label = { file: cell(file), date: cell(date), component: cell(component) || 'normal' }
    const isAlone = days.get(`${row[file]} ${row[date]}`)!.length === 1
    return isAlone ? label : { ...label, minutes: minutesOf(cell(window), rows.indexOf(row) + 2) }
  })
  return labels.filter(label => label.component !== HISTORY_ONLY)
}

function minutesOf(text: string, line: number): [number, number] {
  const [, h1, m1, h2, m2] = (MINUTES.exec(text) ?? []).map(Number)
  if (m2 === undefined)
    throw new Error(`labels.csv, line ${line}: several cases of a day need occupied_window, such as 00:10-00:14`)
  return [h1! * 60 + m1!, h2! * 60 + m2]
}

/**
 * @param name as `labels.csv` has it: the file's name without `.csv` or `.csv.gz`
 * @returns the set; columns whose header names no role are left out. Where none does, the roles are those that an import would
 *   suggest for the names
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
  const named = header.map(text => roleOfHeader(text.trim(), type))
  const roles = named.some(role => role !== undefined) ? named : suggestedRoles(header, type)
  const columns = header.slice(1).flatMap((text, i): LabelledColumn[] => {
    const role = roles[i + 1]
    if (role === undefined || seen.has(role)) return []
    seen.add(role)
    const values = Float64Array.from(rows, row => toNumber(row[i + 1] ?? ''))
    return [{ role, unit: unitOf(text, role, values), values }]
  })
  return { name, ts, columns }
}

function suggestedRoles(header: string[], equipment_type: EquipmentType): (string | undefined)[] {
  const asked = header.map(
    (name, i): Asked => ({
      point_id: String(i),
      name,
      equipment_type,
      kind: 'number',
      source: { protocol: 'csv', address: name },
    }),
  )
  const found = suggestRoles(asked)
  return asked.map(({ point_id }) => found.get(point_id)?.[0]?.role)
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
