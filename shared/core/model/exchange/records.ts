/**
 * A building's model as flat records, which every format of exchange writes and reads: CSV as rows, Haystack as dicts, Brick
 * as triples. What each format says besides is derived from these fields, so a round trip through any of them is exact.
 */
import { nameTable } from '#shared/core/name-table.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'

/** Everything that is exchanged of one building. Who measures a point, and its history, is not. */
export type BuildingModel = { building: Building; equipment: Equipment[]; points: Point[] }

export const RECORD_KINDS = ['building', 'equipment', 'point'] as const
export type RecordKind = (typeof RECORD_KINDS)[number]
export type FieldValue = string | number | string[]
export type ModelRecord = {
  record: RecordKind
  id: string
  fields: Record<string, FieldValue>
  /** Row of a table, from 1 for its header; undefined in formats without rows. */
  row?: number
}

/** Fields of each kind, in the order in which they are written. */
export const FIELDS: Record<RecordKind, readonly string[]> = {
  building: ['name', 'site_id', 'timezone', 'unit_system', 'lat', 'lon'],
  equipment: ['name', 'equipment_type', 'parent_id', 'feeds'],
  point: ['name', 'equipment_id', 'role', 'unit', 'kind', 'protocol', 'address', 'poll_secs', 'states'],
}
/** Fields that are no text. */
const KIND_OF_FIELD = nameTable<'number' | 'list'>({
  lat: 'number',
  lon: 'number',
  poll_secs: 'number',
  feeds: 'list',
  states: 'list',
})
export const kindOfField = (field: string): 'text' | 'number' | 'list' => KIND_OF_FIELD[field] ?? 'text'

/** @returns the building, then equipment and points in the order of their ids; points that nobody measures any more are left out */
export function toRecords({ building, equipment, points }: BuildingModel): ModelRecord[] {
  const there = points.filter(({ gone }) => gone === undefined)
  return [
    recordOf('building', building.building_id, building),
    ...equipment.map(one => recordOf('equipment', one.equipment_id, one)),
    ...there.map(({ source, ...one }) =>
      recordOf('point', one.point_id, { ...one, protocol: source.protocol, address: source.address }),
    ),
  ]
}

function recordOf(record: RecordKind, id: string, given: Record<string, unknown>): ModelRecord {
  const used = FIELDS[record].filter(field => !isAbsent(given[field]))
  return { record, id, fields: Object.fromEntries(used.map(field => [field, given[field] as FieldValue])) }
}
const isAbsent = (value: unknown) => value === undefined || value === null || (Array.isArray(value) && value.length === 0)

/** A record in the form that the schemas of the model check, with its place in the text. */
export type Unchecked = { record: RecordKind; id: string; row: number | undefined; value: Record<string, unknown> }

/** @returns every record as the schemas of buildings, equipment and points take it */
export function fromRecords(records: readonly ModelRecord[], building_id: string): Unchecked[] {
  return records.map(({ record, id, fields, row }) => {
    const { protocol, address, ...others } = fields
    const value =
      record === 'building'
        ? { building_id: id, ...fields }
        : record === 'equipment'
          ? { equipment_id: id, building_id, ...fields }
          : { point_id: id, building_id, ...others, source: { protocol, address } }
    return { record, id, row, value }
  })
}

/** Items of a list in one cell: `off|on`. */
export const formatList = (items: readonly string[]): string =>
  items.map(item => (item === '' ? '\\e' : escapeText(item, true))).join('|')
export function parseList(text: string): string[] {
  const items = ['']
  for (const [part] of text.matchAll(/\\.|\||[^\\|]+/gs)) {
    if (part === '|') items.push('')
    else items[items.length - 1] += unescapeText(part)
  }
  return items
}

const ESCAPES = nameTable<string>({ '\n': '\\n', '\r': '\\r', '\t': '\\t', '\\': '\\\\', '|': '\\|' })
const PLAIN = nameTable<string>({ n: '\n', r: '\r', t: '\t', e: '' })

/** Text without line breaks and tabs, which a table cannot hold: `\n`, `\r`, `\t` and `\\` stand for them. */
export const escapeText = (text: string, isItem = false): string =>
  text.replaceAll(isItem ? /[\n\r\t\\|]/g : /[\n\r\t\\]/g, char => ESCAPES[char]!)
export const unescapeText = (text: string): string => text.replaceAll(/\\(.)/gs, (_, char: string) => PLAIN[char] ?? char)
