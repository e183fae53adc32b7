/** The model of a building goes out over HTTP and comes in again, checked before anything is stored. */
import test from 'ava'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())

const fill = (building_id: string) => {
  const { model } = site.central.context
  const of = { building_id, equipment_id: 'ahu' }
  const source = { protocol: 'bacnet', address: 'analog-input,3' } as const
  model.put({
    building: { building_id, name: 'School', site_id: 's', timezone: 'America/Chicago', unit_system: 'us' },
    equipment: [{ ...of, name: 'AHU 1', equipment_type: 'ahu' }],
    points: [
      { ...of, point_id: 'sat', name: 'Supply "air"', unit: 'degF', kind: 'number', role: 'sa_t', source },
      { ...of, point_id: 'fan', name: 'Fan', unit: 'bool', kind: 'bool', states: ['off', 'on'], source, edge_id: 'e1' },
    ],
  })
}
const exported = (building_id: string, format: string) =>
  site.call('viewer', 'GET', `/api/model/export?building_id=${building_id}&format=${format}`)
const imports = (body: object, query = '') =>
  site.call('operator', 'POST', `/api/model/import${query}`, { confirm: true, ...body })

for (const [format, type] of [
  ['csv', 'text/csv'],
  ['haystack', 'application/json'],
  ['brick', 'text/turtle'],
] as const) {
  test(`${format}: a model that is imported into nothing is exported as the same bytes`, async t => {
    const building_id = `trip-${format}`
    fill(building_id)
    const { text, headers, status } = await exported(building_id, format)
    t.is(status, 200)
    t.true(headers.get('content-type')!.startsWith(type))
    t.regex(headers.get('content-disposition')!, /attachment; filename="trip-/)
    const same = await imports({ building_id, format, text }, '?dry_run=true')
    t.deepEqual(same.body.unchanged, { building: 1, equipment: 1, point: 2 }, same.text)
    const other = await startCentral()
    t.teardown(other.close)
    const tried = await other.call('operator', 'POST', '/api/model/import?dry_run=true', { building_id, format, text })
    t.deepEqual([tried.body.dry_run, tried.body.added], [true, { building: 1, equipment: 1, point: 2 }], tried.text)
    t.is((await other.call('viewer', 'GET', '/api/model/buildings')).body.buildings.length, 0, 'a dry run stores nothing')
    const done = await other.call('operator', 'POST', '/api/model/import', { confirm: true, building_id, format, text })
    t.deepEqual(done.body.added, { building: 1, equipment: 1, point: 2 })
    t.is((await other.call('viewer', 'GET', `/api/model/export?building_id=${building_id}&format=${format}`)).text, text)
    const [row] = (await other.call('admin', 'GET', '/api/audit?action=import_model')).body.rows
    t.is(row.subject, building_id)
  })
}

test('an import adds and changes what it names, and what it does not name stays, also who measures it', async t => {
  fill('merge')
  const text =
    'record;id;name;equipment_id;unit;kind;protocol;address\npoint;fan;Supply fan;ahu;bool;bool;bacnet;binary-input,1\npoint;new;New;ahu;°C;number;csv;x\n'
  const { body, text: said } = await imports({ building_id: 'merge', format: 'csv', text })
  t.deepEqual(
    [body.added, body.changed],
    [
      { building: 0, equipment: 0, point: 1 },
      { building: 0, equipment: 0, point: 1 },
    ],
    said,
  )
  const points = site.central.context.model.points('merge')
  t.deepEqual(
    points.map(one => `${one.point_id} ${one.name} ${one.unit} ${one.edge_id}`),
    ['fan Supply fan bool e1', 'new New degC undefined', 'sat Supply "air" degF undefined'],
  )
})

for (const [what, given, status, code, wanted] of [
  ['no confirmation', { confirm: undefined, text: 'record,id,name\n' }, 422, 'confirm_required', /confirm/],
  [
    'another building',
    { text: 'record,id,name,timezone,unit_system\nbuilding,b9,B,UTC,si\n' },
    422,
    'invalid',
    /building b9, not bad/,
  ],
  ['no building', { text: 'record,id,name,equipment_type\nequipment,a1,A,ahu\n' }, 422, 'invalid', /no record of the building/],
  [
    'a zone that is none',
    { text: 'record,id,name,timezone,unit_system\nbuilding,bad,B,Mars/Base,si\n' },
    422,
    'invalid',
    /Mars\/Base/,
  ],
  [
    'a type that is none',
    { text: 'record,id,name,timezone,unit_system,equipment_type\nbuilding,bad,B,UTC,si,\nequipment,a1,A,,,spaceship\n' },
    422,
    'invalid',
    /equipment a1/,
  ],
  [
    'an id twice',
    { text: 'record,id,name,timezone,unit_system\nbuilding,bad,B,UTC,si\nbuilding,bad,B,UTC,si\n' },
    422,
    'invalid',
    /there twice/,
  ],
  [
    'a link to nothing',
    { text: 'record,id,name,timezone,unit_system,equipment_type,parent_id\nbuilding,bad,B,UTC,si,,\nequipment,a1,A,,,ahu,a9\n' },
    422,
    'invalid',
    /a1 cannot be linked to a9/,
  ],
  ['text that is no Turtle', { format: 'brick', text: '<a> <b> .' }, 422, 'invalid', /no brick/],
  ['text that is no JSON', { format: 'haystack', text: '{' }, 422, 'invalid', /no JSON/],
  ['an open quote', { text: 'record,id,name\nbuilding,"bad,B\n' }, 422, 'invalid', /./],
] as const) {
  test(`an import with ${what} is refused, and nothing is saved`, async t => {
    const { status: got, body, text } = await imports({ building_id: 'bad', format: 'csv', ...given })
    t.deepEqual([got, body.code], [status, code], text)
    t.regex(text, wanted)
    if (code === 'invalid') t.true(body.errors.length > 0)
    t.is(site.central.context.model.building('bad'), undefined)
  })
}

test('a wrong row is named with its row and column', async t => {
  const text =
    'record,id,name,timezone,unit_system,unit,kind,protocol,address,role\nbuilding,rows,B,UTC,si,,,,,\n\npoint,p1,P,,,furlong,number,csv,x,sa_tt\n'
  const { body } = await imports({ building_id: 'rows', format: 'csv', text })
  t.like(body.errors[0], { row: 4, column: 'unit' })
})

test('a twin is Turtle, or JSON-LD for whoever asks for it, and a building that is not there is 404', async t => {
  fill('twin')
  const { text, headers } = await site.call('viewer', 'GET', '/twins/twin')
  t.regex(headers.get('content-type')!, /^text\/turtle/)
  t.true(text.includes('a brick:AHU'))
  const json = await site.call('viewer', 'GET', '/twins/twin', undefined, { accept: 'application/ld+json' })
  t.regex(json.headers.get('content-type')!, /^application\/ld\+json/)
  t.is(JSON.parse(json.text)['@graph'][0]['@type'], 'brick:Building')
  t.is((await site.call('viewer', 'GET', '/twins/nowhere')).status, 404)
  t.is((await site.call('nobody', 'GET', '/twins/twin')).status, 401)
})

test('the schema of quantities is a document of draft 2020-12 that takes what the API takes', async t => {
  const { body, headers } = await site.call('viewer', 'GET', '/api/model/quantities/schema')
  t.regex(headers.get('content-type')!, /^application\/schema\+json/)
  t.is(body.$schema, 'https://json-schema.org/draft/2020-12/schema')
  t.false(body.additionalProperties)
  t.deepEqual(body.required, [
    'quantity_id',
    'property',
    'numeric_value',
    'unit_code',
    'quantity_kind',
    'value_basis',
    'source_type',
  ])
  t.is(body.properties.property.enum.length, 13)
})
