/**
 * A building's model in Brick 1.4: triples, which are written as Turtle or JSON-LD. Properties of `plenum:` hold the fields of
 * the records, so that nothing is lost on the way back; all others say the same to other programs.
 *
 * @source Brick 1.4 (brickschema.org), its reference ontology (ref:), the BACnet ontology of ASHRAE 135-2020 (bacnet:), QUDT 2.1 units
 */
import { nameTable } from '#shared/core/name-table.ts'
import type { DataError } from '#shared/core/problem.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { CLASS_OF_TYPE, classOfRole, QUDT_UNITS } from './brick-class.ts'
import {
  FIELDS,
  type FieldValue,
  formatList,
  kindOfField,
  type ModelRecord,
  parseList,
  RECORD_KINDS,
  type RecordKind,
} from './records.ts'

export const PREFIXES = {
  brick: 'https://brickschema.org/schema/Brick#',
  ref: 'https://brickschema.org/schema/Brick/ref#',
  bacnet: 'http://data.ashrae.org/bacnet/2020#',
  unit: 'http://qudt.org/vocab/unit/',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
  plenum: 'urn:plenum:model#',
} as const
type Prefix = keyof typeof PREFIXES

/** An object of a triple: another node by its address, or a literal. */
type TripleObject = { iri: string } | { text: string; datatype?: string }
export type Triple = { subject: string; predicate: string; object: TripleObject }

const name = (prefix: Prefix, local: string) => `${PREFIXES[prefix]}${local}`
const DOUBLE = name('xsd', 'double')
const TYPE = name('rdf', 'type')
/** A node: `urn:plenum:BUILDING:point:ID`. Ids hold no character that an address cannot. */
const nodeOf = (building_id: string, record: RecordKind, id: string) => `urn:plenum:${building_id}:${record}:${id}`

/** @returns triples in the order of the records */
export function toTriples(records: readonly ModelRecord[]): Triple[] {
  const building_id = records.find(({ record }) => record === 'building')?.id ?? ''
  const triples = records.flatMap(one => triplesOf(one, building_id))
  return [...triples, ...deviceTriples(triples)]
}

const deviceTriples = (triples: readonly Triple[]): Triple[] => {
  const devices = triples.flatMap(({ predicate, object }) =>
    predicate === name('bacnet', 'objectOf') && 'iri' in object ? [object.iri] : [],
  )
  return [...new Set(devices)].map(subject => ({ subject, predicate: TYPE, object: { iri: name('bacnet', 'BACnetDevice') } }))
}

function triplesOf({ record, id, fields }: ModelRecord, building_id: string): Triple[] {
  const subject = nodeOf(building_id, record, id)
  const to = (predicate: string, iri: string): Triple => ({ subject, predicate, object: { iri } })
  const text = (predicate: string, value: string): Triple => ({ subject, predicate, object: { text: value } })
  const own = Object.entries(fields)
    .filter(([field]) => field !== 'feeds')
    .map(([field, value]) => ({ subject, predicate: name('plenum', field), object: literal(value) }))
  const feeds = ((fields['feeds'] ?? []) as string[]).map(fed =>
    to(name('brick', 'feeds'), nodeOf(building_id, 'equipment', fed)),
  )
  return [
    to(TYPE, name('brick', classOf(record, fields))),
    text(name('rdfs', 'label'), String(fields['name'])),
    ...relations(record, fields, building_id).map(([predicate, iri]) => to(predicate, iri)),
    ...feeds,
    text(name('plenum', 'record'), record),
    text(name('plenum', 'id'), id),
    ...own,
    ...references(subject, record, id, fields),
  ]
}

const literal = (value: FieldValue): TripleObject =>
  typeof value === 'number'
    ? { text: String(value), datatype: DOUBLE }
    : { text: Array.isArray(value) ? formatList(value) : value }

function classOf(record: RecordKind, fields: ModelRecord['fields']): string {
  if (record === 'building') return 'Building'
  return record === 'equipment'
    ? CLASS_OF_TYPE[fields['equipment_type'] as EquipmentType]
    : classOfRole(fields['role'] as string | undefined)
}

function relations(record: RecordKind, fields: ModelRecord['fields'], building_id: string): [string, string][] {
  const building = nodeOf(building_id, 'building', building_id)
  const equipment = (id: FieldValue) => nodeOf(building_id, 'equipment', String(id))
  const { parent_id, equipment_id, unit } = fields
  if (record === 'equipment') {
    const above: [string, string][] = parent_id === undefined ? [] : [[name('brick', 'isFedBy'), equipment(parent_id)]]
    return [[name('brick', 'hasLocation'), building], ...above]
  }
  if (record === 'building') return []
  const measured = QUDT_UNITS[String(unit)]
  return [
    [name('brick', 'isPointOf'), equipment_id === undefined ? building : equipment(equipment_id)],
    ...(measured === undefined ? [] : [[name('brick', 'hasUnit'), name('unit', measured)] as [string, string]]),
  ]
}

/** Where a point is read, for other programs: the id of its history, and its BACnet object with its device. */
function references(subject: string, record: RecordKind, id: string, { protocol, address }: ModelRecord['fields']): Triple[] {
  if (record !== 'point') return []
  const reference = (kind: string, local: string, properties: [string, TripleObject][]): Triple[] => {
    const node = `${subject}:${local}`
    return [
      { subject, predicate: name('ref', 'hasExternalReference'), object: { iri: node } },
      { subject: node, predicate: TYPE, object: { iri: name('ref', kind) } },
      ...properties.map(([predicate, object]) => ({ subject: node, predicate, object })),
    ]
  }
  const history = reference('TimeseriesReference', 'history', [[name('ref', 'hasTimeseriesId'), { text: id }]])
  if (protocol !== 'bacnet') return history
  const [, device, object = String(address)] = DEVICE_ADDRESS.exec(String(address)) ?? []
  const ofDevice: [string, TripleObject][] =
    device === undefined ? [] : [[name('bacnet', 'objectOf'), { iri: `urn:plenum:device:${device}` }]]
  return [
    ...history,
    ...reference('BACnetReference', 'bacnet', [[name('bacnet', 'object-identifier'), { text: object }], ...ofDevice]),
  ]
}
/** The address of a point of the list of field devices: `ahu-1/analog-input,3`. */
const DEVICE_ADDRESS = /^([A-Za-z0-9._-]+)\/(.+)$/

/** @returns the records of triples, and what is wrong with them; nodes without `plenum:record` are passed over */
export function fromTriples(triples: readonly Triple[]): { records: ModelRecord[]; errors: DataError[] } {
  const errors: DataError[] = []
  const records: ModelRecord[] = []
  for (const [subject, own] of Map.groupBy(triples, triple => triple.subject)) {
    const textOf = (field: string) =>
      own.flatMap(({ predicate, object }) => (predicate === name('plenum', field) && 'text' in object ? [object.text] : []))[0]
    const [record, id] = [textOf('record') as RecordKind | undefined, textOf('id')]
    if (record === undefined) continue
    if (!RECORD_KINDS.includes(record) || id === undefined) {
      errors.push({
        pointer: subject,
        message: record && id === undefined ? 'has no plenum:id' : `plenum:record is none of ${RECORD_KINDS.join(', ')}`,
      })
      continue
    }
    records.push({ record, id, fields: fieldsOf(record, subject, own, textOf, errors) })
  }
  return { records, errors }
}

const EQUIPMENT_NODE = /^urn:plenum:[^:]+:equipment:([^:]+)$/

function fieldsOf(
  record: RecordKind,
  subject: string,
  triples: readonly Triple[],
  textOf: (field: string) => string | undefined,
  errors: DataError[],
): Record<string, FieldValue> {
  const fields: Record<string, FieldValue> = {}
  for (const field of FIELDS[record].filter(each => each !== 'feeds')) {
    const text = textOf(field)
    if (text === undefined) continue
    const kind = kindOfField(field)
    if (kind === 'number' && !Number.isFinite(Number(text)))
      errors.push({ pointer: `${subject} plenum:${field}`, message: `"${text}" is no number` })
    fields[field] = kind === 'number' ? Number(text) : kind === 'list' ? parseList(text) : text
  }
  const fed = triples.flatMap(({ predicate, object }) => {
    const [, id] = (predicate === name('brick', 'feeds') && 'iri' in object && EQUIPMENT_NODE.exec(object.iri)) || []
    return id === undefined ? [] : [id]
  })
  return { ...fields, ...(fed.length > 0 && { feeds: fed }) }
}

/** @returns the triples as JSON-LD 1.1, one node object for each subject */
export function toJsonLd(triples: readonly Triple[]): string {
  const graph = [...Map.groupBy(triples, ({ subject }) => subject)].map(([subject, own]) => ({
    '@id': subject,
    ...Object.fromEntries(
      [...Map.groupBy(own, ({ predicate }) => predicate)].map(([predicate, same]) => propertyOf(predicate, same)),
    ),
  }))
  return `${JSON.stringify({ '@context': PREFIXES, '@graph': graph }, undefined, 1)}\n`
}

function propertyOf(predicate: string, triples: readonly Triple[]): [string, unknown] {
  const values = triples.map(({ object }) => {
    if ('iri' in object) return predicate === TYPE ? compact(object.iri) : { '@id': compact(object.iri) }
    return object.datatype === undefined ? object.text : { '@value': object.text, '@type': compact(object.datatype) }
  })
  return [predicate === TYPE ? '@type' : compact(predicate), values.length === 1 ? values[0] : values]
}

const SPACES = Object.entries(nameTable<string>(PREFIXES))
function compact(iri: string): string {
  const [prefix, space] = SPACES.find(([, start]) => iri.startsWith(start)) ?? []
  return space === undefined ? iri : `${prefix}:${iri.slice(space.length)}`
}
