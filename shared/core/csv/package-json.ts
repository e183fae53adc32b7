/** Reads `manifest.json` and `column_map.json` of a package (`svc_package_v1`). */
import { isId } from '#shared/core/model/model.ts'
import { isZone } from '#shared/core/time-zone.ts'
import { FEEDS_MAX } from './links/links.ts'
import { DATE_ORDERS, type DateOrder } from './timestamp.ts'

export const PACKAGE_SCHEMA = 'svc_package_v1'
/**
 * Maximum number of columns, with the timestamp: the points of several thousand rooms. Further columns belong in another
 * table.
 */
export const COLUMNS_MAX = 10_000
/** The second is the older name of the same format. */
const SCHEMAS = [PACKAGE_SCHEMA, 'openfdd_package_v1']
/** One day: coarser grids are no history of equipment. */
const GRID_MINUTES_MAX = 1440

export type Manifest = {
  building_id: string
  grid_minutes: number
  timezone?: string
  unit_system?: 'us' | 'si'
  notes?: string
  /** Order of day and month in dates such as 5/7/2022, where a file alone does not show it. */
  date_order?: DateOrder
}

export type ColumnMap = {
  equipType: string
  equip?: string
  /** Role, or Haystack or Brick name → header. */
  points: Record<string, string>
  /** Header → unit. */
  units?: Record<string, string>
  /** Equipment that serves this one or contains it: the air handler of a box. */
  parent?: string
  /** Equipment that this one serves. */
  feeds?: string[]
  date_order?: DateOrder
  /** Headers of the time: one column, or a date and a time of day; the first column where nothing is said. */
  time_columns?: string[]
  /** Headers that belong to this equipment; the others are left out. All of them where nothing is said. */
  columns?: string[]
}
/** A date and a time of day. */
export const TIME_COLUMNS_MAX = 2

export type JsonResult<T> = { ok: true; value: T } | { ok: false; complaints: string[] }

/** Checks a manifest. Unknown fields are ignored: packages may contain notes. */
export function readManifest(json: unknown): JsonResult<Manifest> {
  if (!isObject(json)) return { ok: false, complaints: ['is not a JSON object'] }
  const { schema_version, building_id, grid_minutes, timezone, unit_system, notes, date_order } = json
  const complaints: string[] = []
  if (!SCHEMAS.includes(schema_version as string)) complaints.push(`schema_version is not ${PACKAGE_SCHEMA}`)
  if (!isId(building_id)) complaints.push('building_id is not 1 to 128 letters, digits, dots, dashes and underscores')
  if (typeof grid_minutes !== 'number' || !(grid_minutes > 0 && grid_minutes <= GRID_MINUTES_MAX)) {
    complaints.push(`grid_minutes is not a number above 0 and up to ${GRID_MINUTES_MAX}`)
  }
  if (timezone !== undefined && !(typeof timezone === 'string' && isZone(timezone))) {
    complaints.push(`timezone ${JSON.stringify(timezone)} is no IANA zone`)
  }
  if (unit_system !== undefined && unit_system !== 'us' && unit_system !== 'si')
    complaints.push('unit_system is neither us nor si')
  if (!isDateOrder(date_order)) complaints.push('date_order is neither mdy nor dmy')
  if (complaints.length) return { ok: false, complaints }
  const text = typeof notes === 'string' ? { notes } : {}
  return {
    ok: true,
    value: { ...defined({ timezone, unit_system, date_order }), ...text, building_id, grid_minutes } as Manifest,
  }
}

/** Checks a column map. */
export function readColumnMap(json: unknown): JsonResult<ColumnMap> {
  if (!isObject(json)) return { ok: false, complaints: ['is not a JSON object'] }
  const { equipType, equip, points, units, parent, feeds, date_order, time_columns, columns } = json
  const complaints: string[] = []
  if (typeof equipType !== 'string') complaints.push('equipType is missing')
  if (equip !== undefined && typeof equip !== 'string') complaints.push('equip is not a text')
  if (parent !== undefined && typeof parent !== 'string') complaints.push('parent is not the id of an equipment')
  if (feeds !== undefined && !isTextList(feeds, FEEDS_MAX))
    complaints.push(`feeds is not a list of at most ${FEEDS_MAX} equipment ids`)
  if (!isTextRecord(points)) complaints.push('points is not an object of role: header')
  if (units !== undefined && !isTextRecord(units)) complaints.push('units is not an object of header: unit')
  if (!isDateOrder(date_order)) complaints.push('date_order is neither mdy nor dmy')
  if (time_columns !== undefined && !(isTextList(time_columns, TIME_COLUMNS_MAX) && time_columns.length > 0))
    complaints.push(`time_columns is not a list of one or ${TIME_COLUMNS_MAX} headers`)
  if (columns !== undefined && !isTextList(columns, COLUMNS_MAX)) complaints.push('columns is not a list of headers')
  if (complaints.length) return { ok: false, complaints }
  const more = defined({ equip, units, parent, feeds, date_order, time_columns, columns })
  return { ok: true, value: { ...more, equipType, points } as ColumnMap }
}

const isObject = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json)
const isTextRecord = (json: unknown): json is Record<string, string> =>
  isObject(json) && Object.values(json).every(value => typeof value === 'string')
const isTextList = (json: unknown, max: number): json is string[] =>
  Array.isArray(json) && json.length <= max && json.every(value => typeof value === 'string')
const isDateOrder = (value: unknown) => value === undefined || DATE_ORDERS.includes(value as DateOrder)
const defined = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
