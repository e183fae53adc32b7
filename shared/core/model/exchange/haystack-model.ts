/**
 * A building's model as a Haystack 4 grid in JSON (Hayson): a site, its equips and points with the tags of their roles. Tags
 * that begin with `plenum` hold the fields of the records, so that nothing is lost on the way back.
 *
 * @source Project Haystack 4: docHaystack::Json, docHaystack::Kinds
 */
import type { DataError } from '#shared/core/problem.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { FIELDS, type FieldValue, kindOfField, type ModelRecord, RECORD_KINDS, type RecordKind } from './records.ts'

type Json = Record<string, unknown>
const MARKER = { _kind: 'marker' }
const ref = (val: string, dis?: string) => ({ _kind: 'ref', val, ...(dis !== undefined && { dis }) })
const idOf = (record: RecordKind, id: string) => `plenum:${record}:${id}`
const TAG_OF: Record<RecordKind, string> = { building: 'site', equipment: 'equip', point: 'point' }

/** @source Project Haystack 4 defs: lib phIoT */
const TAGS_OF_TYPE: Record<EquipmentType, string> = {
  ahu: 'ahu airHandlingEquip',
  vav: 'vav airTerminalUnit',
  zone: 'hvacZone',
  fcu: 'fcu airTerminalUnit',
  rtu: 'rtu ahu airHandlingEquip',
  heat_pump: 'heatPump',
  chiller: 'chiller',
  chw_plant: 'chilled water plant',
  cooling_tower: 'coolingTower',
  boiler: 'boiler',
  hw_plant: 'hot water plant',
  pump: 'pump motor',
  fan: 'fan motor',
  meter: 'meter',
  weather: 'weather',
}
/** How Haystack refers to what feeds an equip: by the substance that it delivers. */
const REF_OF_FEEDER: Partial<Record<EquipmentType, string>> = {
  ahu: 'airRef',
  rtu: 'airRef',
  chiller: 'chilledWaterRef',
  chw_plant: 'chilledWaterRef',
  boiler: 'hotWaterRef',
  hw_plant: 'hotWaterRef',
}
const KIND_OF_POINT = { number: 'Number', bool: 'Bool', enum: 'Str', string: 'Str' } as const

/** @returns the text of the grid */
export function writeModelHaystack(records: readonly ModelRecord[]): string {
  const building = records.find(({ record }) => record === 'building')
  const equipment = new Map(records.filter(({ record }) => record === 'equipment').map(one => [one.id, one]))
  const rows = records.map(one => dictOf(one, building, equipment.get(String(one.fields['parent_id']))))
  const cols = [...new Set(rows.flatMap(row => Object.keys(row)))].map(name => ({ name }))
  const grid = { _kind: 'grid', meta: { ver: '3.0' }, cols, rows }
  return `${JSON.stringify(grid, undefined, 1)}\n`
}

function dictOf({ record, id, fields }: ModelRecord, building: ModelRecord | undefined, feeder: ModelRecord | undefined): Json {
  const siteRef = building && record !== 'building' && { siteRef: ref(idOf('building', building.id)) }
  const own = Object.entries(fields).map(([name, value]) => [tagOf(name), value])
  return {
    id: ref(idOf(record, id), String(fields['name'])),
    dis: fields['name'],
    [TAG_OF[record]]: MARKER,
    ...siteRef,
    ...(feeder && {
      [REF_OF_FEEDER[feeder.fields['equipment_type'] as EquipmentType] ?? 'equipRef']: ref(idOf('equipment', feeder.id)),
    }),
    ...derivedTags(record, fields),
    plenumId: id,
    ...Object.fromEntries(own),
  }
}
const tagOf = (field: string) => `plenum${field.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}`

/** What other programs of Haystack read. */
function derivedTags(record: RecordKind, fields: ModelRecord['fields']): Json {
  const markers = (tags: string) => Object.fromEntries(tags.split(' ').map(tag => [tag, MARKER]))
  if (record === 'building') {
    const { lat, lon, timezone } = fields
    const city = String(timezone).split('/').at(-1)
    return { tz: city, ...(lat !== undefined && lon !== undefined && { geoCoord: { _kind: 'coord', lat, lng: lon } }) }
  }
  if (record === 'equipment') {
    return markers(TAGS_OF_TYPE[fields['equipment_type'] as EquipmentType])
  }
  const { equipment_id, role, kind, states, unit } = fields
  const known = role === undefined ? undefined : ROLES[String(role)]
  return {
    ...(equipment_id !== undefined && { equipRef: ref(idOf('equipment', String(equipment_id))) }),
    ...(known && markers(known.haystack)),
    kind: KIND_OF_POINT[kind as keyof typeof KIND_OF_POINT],
    ...(kind === 'number' && { unit }),
    ...(Array.isArray(states) && { enum: states.join(',') }),
  }
}

/** @returns the records of a grid in JSON, and what is wrong with it */
export function readModelHaystack(text: string): { records: ModelRecord[]; errors: DataError[] } {
  const wrong = (message: string, pointer = '') => ({ records: [], errors: [{ pointer, message }] })
  let grid: unknown
  try {
    grid = JSON.parse(text)
  } catch {
    return wrong('the text is no JSON')
  }
  const rows = (grid as Json | null)?.['rows']
  if (!Array.isArray(rows)) return wrong('the grid has no rows', '/rows')
  const errors: DataError[] = []
  const records = rows.flatMap((dict: Json | null, i): ModelRecord[] => {
    const record = RECORD_KINDS.find(kind => dict?.[TAG_OF[kind]] !== undefined)
    const id = dict?.['plenumId']
    if (record && typeof id === 'string') return [{ record, id, fields: readTags(dict!, record, `/rows/${i}`, errors) }]
    errors.push({
      pointer: `/rows/${i}`,
      message: record ? `a ${TAG_OF[record]} without plenumId` : 'is no site, equip or point',
    })
    return []
  })
  return { records, errors }
}

function readTags(dict: Json, record: RecordKind, pointer: string, errors: DataError[]) {
  const fields: Record<string, FieldValue> = {}
  for (const field of FIELDS[record]) {
    const value = dict[tagOf(field)]
    if (value === undefined) continue
    const kind = kindOfField(field)
    const fits =
      kind === 'list'
        ? Array.isArray(value) && value.every(item => typeof item === 'string')
        : typeof value === (kind === 'text' ? 'string' : 'number')
    if (fits) fields[field] = value as FieldValue
    else errors.push({ pointer: `${pointer}/${tagOf(field)}`, message: `is no ${kind}` })
  }
  return fields
}
