/** A model goes out and comes back the same, whatever its names hold; other programs read the same in it. */
import test from 'ava'
import fc from 'fast-check'
import { HGrid, HMarker, HRef } from 'haystack-core'
import jsonld from 'jsonld'
import { parse } from 'csv-parse/sync'
import { classOfRole, QUDT_UNITS } from '#shared/core/model/exchange/brick-class.ts'
import { fromTriples, toJsonLd, toTriples } from '#shared/core/model/exchange/brick-model.ts'
import { readModelRows, writeModelCsv } from '#shared/core/model/exchange/csv-model.ts'
import { readModelHaystack, writeModelHaystack } from '#shared/core/model/exchange/haystack-model.ts'
import {
  type BuildingModel,
  escapeText,
  formatList,
  type ModelRecord,
  parseList,
  toRecords,
  unescapeText,
} from '#shared/core/model/exchange/records.ts'
import { EQUIPMENT_TYPES, type Point, POINT_KINDS, PROTOCOLS } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { UNITS } from '#shared/core/model/unit.ts'
import { readTurtle, writeTurtle } from '#shared/node/model/turtle.ts'
import { TOLERANT_CSV } from '#shared/central/import/split-records.ts'

const id = fc.stringMatching(/^[A-Za-z0-9_-][A-Za-z0-9._-]{0,11}$/)
/** Names as people type them, and as nobody would. */
const name = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
  fc.constantFrom(
    '=SUM(A1)',
    "'=x",
    '-1',
    ' a ',
    '"quoted"',
    'a,b;c',
    'line\nbreak',
    '\\n',
    'tab\t',
    '☃ Zürich',
    '|',
    '<b>',
    '@prefix',
    "''",
    '1e5',
  ),
)
/** No format tells -0 from 0. */
const positiveZero = (value: number) => value + 0
const absent = fc.constant(undefined)
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof(arbitrary, absent)
const without = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T

const model: fc.Arbitrary<BuildingModel> = fc
  .tuple(id, fc.uniqueArray(id, { maxLength: 5 }), fc.uniqueArray(id, { maxLength: 8 }))
  .chain(([building_id, equipmentIds, pointIds]) => {
    const other = equipmentIds.length > 0 ? optional(fc.constantFrom(...equipmentIds)) : absent
    const building = fc.record({
      building_id: fc.constant(building_id),
      name,
      site_id: id,
      timezone: fc.constantFrom('Europe/Zurich', 'America/Argentina/Buenos_Aires', 'UTC'),
      unit_system: fc.constantFrom('us' as const, 'si' as const),
      lat: optional(fc.double({ min: -90, max: 90, noNaN: true }).map(positiveZero)),
      lon: optional(fc.double({ min: -180, max: 180, noNaN: true }).map(positiveZero)),
    })
    const equipment = equipmentIds.map(equipment_id =>
      fc.record({
        equipment_id: fc.constant(equipment_id),
        building_id: fc.constant(building_id),
        name,
        equipment_type: fc.constantFrom(...EQUIPMENT_TYPES),
        parent_id: other,
        feeds: optional(fc.shuffledSubarray(equipmentIds, { minLength: 1 })),
      }),
    )
    const points = pointIds.map(point_id =>
      fc.record({
        point_id: fc.constant(point_id),
        building_id: fc.constant(building_id),
        name,
        equipment_id: other,
        role: optional(fc.constantFrom(...Object.keys(ROLES))),
        unit: fc.constantFrom(...Object.keys(UNITS)),
        kind: fc.constantFrom(...POINT_KINDS),
        source: fc.record({ protocol: fc.constantFrom(...PROTOCOLS), address: name }),
        poll_secs: optional(fc.double({ min: 0.001, max: 1e6, noNaN: true }).map(positiveZero)),
        states: optional(fc.array(fc.oneof(name, fc.constant('')), { minLength: 1, maxLength: 4 })),
      }),
    )
    return fc.record({ building, equipment: fc.tuple(...equipment), points: fc.tuple(...points) })
  })
  .map(({ building, equipment, points }) => ({
    building: without(building),
    equipment: equipment.map(without),
    points: points.map(without),
  })) as fc.Arbitrary<BuildingModel>

const plain = (records: ModelRecord[]) => records.map(({ record, id: own, fields }) => ({ record, id: own, fields }))
const csvRows = (text: string) => parse(text, TOLERANT_CSV) as unknown as { cells: string[]; line: number }[]

const TRIPS: [string, (records: ModelRecord[]) => { records: ModelRecord[]; errors: unknown[] }][] = [
  ['CSV', records => readModelRows(csvRows(writeModelCsv(records)))],
  ['Haystack', records => readModelHaystack(writeModelHaystack(records))],
  ['Turtle', records => fromTriples(readTurtle(writeTurtle(toTriples(records))))],
]
for (const [format, trip] of TRIPS) {
  test(`any model comes back from ${format} as it was`, t => {
    fc.assert(
      fc.property(model, given => {
        const records = toRecords(given)
        const { records: back, errors } = trip(records)
        t.deepEqual(errors, [])
        t.deepEqual(plain(back), records)
      }),
      { numRuns: 300 },
    )
  })
}

test('lists and escaped texts come back, also empty items and backslashes', t => {
  const item = fc.oneof(name, fc.constant(''), fc.constantFrom('\\', '\\e', '|', '\\|', '\r\n'))
  fc.assert(
    fc.property(
      fc.array(item, { minLength: 1 }),
      items => JSON.stringify(parseList(formatList(items))) === JSON.stringify(items),
    ),
  )
  t.notThrows(() => fc.assert(fc.property(item, text => unescapeText(escapeText(text)) === text)))
})

const source = { protocol: 'bacnet', address: 'ahu-1/analog-input,3' } as const
const POINT: Point = {
  point_id: 'sat',
  building_id: 'b1',
  equipment_id: 'ahu',
  name: 'Supply',
  role: 'sa_t',
  unit: 'degF',
  kind: 'number',
  source,
}
const MODEL: BuildingModel = {
  building: {
    building_id: 'b1',
    name: 'School',
    site_id: 's',
    timezone: 'America/Chicago',
    unit_system: 'us',
    lat: 41.5,
    lon: -87.25,
  },
  equipment: [
    { equipment_id: 'ahu', building_id: 'b1', name: 'AHU 1', equipment_type: 'ahu', feeds: ['vav'] },
    { equipment_id: 'vav', building_id: 'b1', name: 'Box', equipment_type: 'vav', parent_id: 'ahu' },
  ],
  points: [POINT, { ...POINT, point_id: 'old', gone: { at: 1 } }],
}

test('JSON-LD and Turtle say the same to a processor that is not ours', async t => {
  const triples = toTriples(toRecords(MODEL))
  const nquads = (await jsonld.toRDF(JSON.parse(toJsonLd(triples)), { format: 'application/n-quads' })) as unknown as string
  const ofJson = readTurtle(nquads)
  // A processor may write 41.5 as 4.15E1.
  const valueOf = ({ text, datatype = 'string' }: { text: string; datatype?: string }) =>
    datatype.endsWith('double') ? Number(text) : text
  const line = ({ subject, predicate, object }: (typeof triples)[number]) =>
    `${subject} ${predicate} ${'iri' in object ? object.iri : JSON.stringify(valueOf(object))}`
  t.deepEqual(ofJson.map(line).toSorted(), readTurtle(writeTurtle(triples)).map(line).toSorted())
})

test('in Brick a point has its class, equipment, unit and BACnet object', t => {
  const triples = readTurtle(writeTurtle(toTriples(toRecords(MODEL))))
  const of = (subject: string, predicate: string) =>
    triples
      .filter(one => one.subject === subject && one.predicate.endsWith(predicate))
      .map(({ object }) => ('iri' in object ? object.iri : object.text))
  const point = 'urn:plenum:b1:point:sat'
  const brick = 'https://brickschema.org/schema/Brick#'
  t.deepEqual(of(point, '#type'), [`${brick}Supply_Air_Temperature_Sensor`])
  t.deepEqual(of(point, '#isPointOf'), ['urn:plenum:b1:equipment:ahu'])
  t.deepEqual(of(point, '#hasUnit'), ['http://qudt.org/vocab/unit/DEG_F'])
  t.deepEqual(of(point, '#hasExternalReference'), [`${point}:history`, `${point}:bacnet`])
  t.deepEqual(of(`${point}:bacnet`, '#object-identifier'), ['analog-input,3'])
  t.deepEqual(of('urn:plenum:b1:equipment:ahu', '#feeds'), ['urn:plenum:b1:equipment:vav'])
  t.deepEqual(of(`${point}:bacnet`, '#objectOf'), ['urn:plenum:device:ahu-1'])
  t.deepEqual(of('urn:plenum:device:ahu-1', '#type'), ['http://data.ashrae.org/bacnet/2020#BACnetDevice'])
  t.deepEqual(of('urn:plenum:b1:equipment:vav', '#isFedBy'), ['urn:plenum:b1:equipment:ahu'])
  t.false(writeTurtle(triples).includes('point:old'), 'a point that nobody measures any more is left out')
})

test('every role and unit has a class and a unit that an address can hold', t => {
  for (const role of [undefined, ...Object.keys(ROLES)]) t.regex(classOfRole(role), /^[A-Z][A-Za-z0-9_]+$/)
  for (const unit of Object.keys(UNITS)) t.true(QUDT_UNITS[unit] !== undefined || ['bool', 'enum', 'count'].includes(unit), unit)
})

test('a Haystack reader that is not ours finds site, equips and points with their tags', t => {
  const grid = HGrid.make(JSON.parse(writeModelHaystack(toRecords(MODEL))))
  t.is(grid.length, 4)
  const point = grid.filter('point and discharge and air and temp and sensor').first!
  t.true(point.get('siteRef') instanceof HRef)
  t.is(point.get<HRef>('equipRef')!.value, 'plenum:equipment:ahu')
  t.is(grid.filter('vav').first!.get<HRef>('airRef')!.value, 'plenum:equipment:ahu')
  t.is(point.get('unit')!.toString(), 'degF')
  t.true(grid.filter('ahu').first!.get('equip') instanceof HMarker)
  t.is(grid.filter('site').first!.get('tz')!.toString(), 'Chicago')
})

for (const [what, text, wanted] of [
  ['without a header', '', /the column record is missing/],
  ['with an unknown column', 'record,id,name,colour\n', /there is no column colour/],
  ['with an unknown record', 'record,id,name\nroom,r1,Room\n', /"room" is none of building, equipment, point/],
  ['with a number that is none', 'record,id,name,lat\nbuilding,b1,B,north\n', /"north" is no number/],
  ['with a field of another record', 'record,id,name,lat\npoint,p1,P,1\n', /a point has no lat/],
] as const) {
  test(`a table ${what} is refused with its row and column`, t => {
    const { errors } = readModelRows(csvRows(text))
    t.regex(errors[0]!.message, wanted)
    t.is(errors[0]!.row, text.includes('\n') && !text.startsWith('record,id,name,colour') ? 2 : 1)
    t.truthy(errors[0]!.column)
  })
}

for (const [what, text, wanted] of [
  ['that is no JSON', '{', /no JSON/],
  ['without rows', '{}', /no rows/],
  ['with a row that is nothing', '{"rows":[null]}', /no site, equip or point/],
  ['with a point of another program', '{"rows":[{"point":{"_kind":"marker"}}]}', /a point without plenumId/],
  ['with a tag of another kind', '{"rows":[{"site":1,"plenumId":"b1","plenumLat":"x"}]}', /is no number/],
] as const) {
  test(`a grid ${what} is refused with its place`, t => {
    const { errors } = readModelHaystack(text)
    t.regex(errors[0]!.message, wanted)
  })
}
