import test from 'ava'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
  const { model } = site.central.context
  const source = { protocol: 'csv', address: 'x' } as const
  model.put({
    building: { building_id: 'b1', name: 'B 1', site_id: 's', timezone: 'UTC', unit_system: 'si' },
    equipment: ['a1', 'a2'].map(equipment_id => ({
      equipment_id,
      building_id: 'b1',
      name: equipment_id,
      equipment_type: 'ahu' as const,
    })),
    points: [
      { point_id: 'p1', building_id: 'b1', equipment_id: 'a1', name: 'p1', unit: 'degF', kind: 'number', source },
      { point_id: 'p2', building_id: 'b1', equipment_id: 'a1', name: 'p2', unit: 'degF', kind: 'number', source, role: 'oa_t' },
      { point_id: 'p3', building_id: 'b1', equipment_id: 'a1', name: 'p3', unit: 'Pa', kind: 'number', source },
    ],
  })
})
test.after.always(() => site?.close())

const save = (assignments: object[], more: object = {}, query = '') =>
  site.call('operator', 'POST', `/api/model/assignments/save${query}`, { confirm: true, building_id: 'b1', assignments, ...more })
const roles = () => site.central.context.model.points('b1').map(({ point_id, role }) => `${point_id} ${role}`)

for (const [what, assignments, more, status, code, pattern] of [
  ['no confirmation', [], { confirm: undefined }, 422, 'confirm_required', /confirm/],
  ['a building that is not there', [], { building_id: 'nowhere' }, 404, 'unknown_building', /nowhere/],
  ['a role that is none', [{ point_id: 'p1', equipment_id: 'a1', role: 'sa_tt' }], {}, 422, 'invalid', /sa_tt is no role/],
  ['a point that is not there', [{ point_id: 'p9', equipment_id: 'a1', role: 'sa_t' }], {}, 422, 'invalid', /no point p9/],
  ['equipment that is not there', [{ point_id: 'p1', equipment_id: 'a9', role: 'sa_t' }], {}, 422, 'invalid', /no equipment a9/],
  [
    'a unit of something else',
    [{ point_id: 'p1', equipment_id: 'a1', role: 'sa_t', unit: 'Pa' }],
    {},
    422,
    'invalid',
    /no unit of temperature/,
  ],
  [
    'a unit that nobody knows',
    [{ point_id: 'p1', equipment_id: 'a1', role: 'sa_t', unit: 'furlong' }],
    {},
    422,
    'invalid',
    /furlong/,
  ],
  [
    'a point whose unit does not fit',
    [{ point_id: 'p3', equipment_id: 'a1', role: 'sa_t' }],
    {},
    422,
    'invalid',
    /Pa is no unit of temperature/,
  ],
  [
    'a role that another point has',
    [{ point_id: 'p1', equipment_id: 'a1', role: 'oa_t' }],
    {},
    422,
    'invalid',
    /held by point p2/,
  ],
  [
    'a role twice',
    [
      { point_id: 'p1', equipment_id: 'a2', role: 'sa_t' },
      { point_id: 'p2', equipment_id: 'a2', role: 'sa_t' },
    ],
    {},
    422,
    'invalid',
    /held by point p1/,
  ],
  ['an unknown field', [{ point_id: 'p1', equipment_id: 'a1', role: 'sa_t', force: true }], {}, 400, 'bad_request', /force/],
] as const) {
  test.serial(`assignments with ${what} are answered with ${code}, and nothing is saved`, async t => {
    const before = roles()
    const answer = await save([...assignments], more)
    t.deepEqual([answer.status, answer.body.code], [status, code])
    t.regex(answer.body.detail, pattern)
    t.deepEqual(roles(), before)
  })
}

test.serial('an unknown role lists the three nearest', async t => {
  const { body } = await save([{ point_id: 'p1', equipment_id: 'a1', role: 'sa_tt' }])
  t.deepEqual(body.errors, [
    { pointer: '/assignments/0/role', message: 'sa_tt is no role', hint: 'nearest are sa_t, ma_t, oa_t' },
  ])
  t.is(body.errors_total, 1)
})

test.serial('assignments are saved, said to be unchanged, and replaced', async t => {
  const one = [{ point_id: 'p1', equipment_id: 'a1', role: 'sa_t', unit: '°F' }]
  t.like((await save(one, {}, '?dry_run=true')).body, { saved: 1, unchanged: 0, removed: 0 })
  t.deepEqual(roles(), ['p1 undefined', 'p2 oa_t', 'p3 undefined'])
  t.like((await save(one)).body, { ok: true, saved: 1, unchanged: 0, removed: 0, errors: [] })
  t.like((await save(one)).body, { saved: 0, unchanged: 1, removed: 0 })
  t.like((await save(one, { mode: 'replace' })).body, { saved: 0, unchanged: 1, removed: 1 })
  t.deepEqual(roles(), ['p1 sa_t', 'p2 undefined', 'p3 undefined'])
  const { body } = await site.call('admin', 'GET', '/api/audit')
  const row = body.rows.find(({ action }: { action: string }) => action === 'assign_points')
  t.like(row, { actor: 'agent', role: 'operator', action: 'assign_points', subject: 'b1' })
})

const post = (path: string, body: object) => site.call('operator', 'POST', path, body)
test('buildings, equipment and points go in as they come out', async t => {
  const building = {
    building_id: 'b2',
    name: 'B 2',
    site_id: 's2',
    timezone: 'Europe/Berlin',
    unit_system: 'us',
    lat: 52.5,
    lon: 13.4,
  }
  t.like((await post('/api/model/buildings', { buildings: [building] })).body, { ok: true, saved: 1 })
  const equipment = [
    { equipment_id: 'ahu', building_id: 'b2', name: 'AHU', equipment_type: 'ahu', feeds: ['vav'] },
    { equipment_id: 'vav', building_id: 'b2', name: 'VAV', equipment_type: 'vav', parent_id: 'ahu' },
  ]
  t.is((await post('/api/model/equipment', { equipment })).status, 200)
  const point = {
    point_id: 'p',
    building_id: 'b2',
    equipment_id: 'vav',
    name: 'T',
    unit: 'degF',
    kind: 'number',
    role: 'zone_t',
    source: { protocol: 'csv', address: 'T' },
  }
  t.is((await post('/api/model/points', { points: [{ ...point, unit: '°F' }] })).status, 200)
  t.deepEqual((await site.call('viewer', 'GET', '/api/model/equipment?building_id=b2')).body.equipment, equipment)
  t.deepEqual((await site.call('viewer', 'GET', '/api/model/points?building_id=b2')).body.points, [point])
  const { buildings } = (await site.call('viewer', 'GET', '/api/model/buildings')).body
  t.deepEqual(
    buildings.find((one: typeof building) => one.building_id === 'b2'),
    building,
  )
})

const EQUIPMENT = { equipment_id: 'x', building_id: 'b1', name: 'X', equipment_type: 'ahu' }
const POINT = {
  point_id: 'x',
  building_id: 'b1',
  name: 'X',
  unit: 'degC',
  kind: 'number',
  source: { protocol: 'csv', address: 'X' },
}
for (const [what, path, body, status, code] of [
  [
    'a zone that is none',
    'buildings',
    { buildings: [{ building_id: 'x', name: 'X', timezone: 'Mars/Base', unit_system: 'si' }] },
    422,
    'invalid',
  ],
  ['no building', 'buildings', { buildings: [] }, 400, 'bad_request'],
  ['an id that is none', 'equipment', { equipment: [{ ...EQUIPMENT, equipment_id: 'a/b' }] }, 400, 'bad_request'],
  ['a type that is none', 'equipment', { equipment: [{ ...EQUIPMENT, equipment_type: 'elevator' }] }, 400, 'bad_request'],
  [
    'a building that is not there',
    'equipment',
    { equipment: [{ ...EQUIPMENT, building_id: 'nowhere' }] },
    404,
    'unknown_building',
  ],
  ['a parent that is not there', 'equipment', { equipment: [{ ...EQUIPMENT, parent_id: 'nowhere' }] }, 422, 'invalid'],
  ['itself as its parent', 'equipment', { equipment: [{ ...EQUIPMENT, parent_id: 'x' }] }, 422, 'invalid'],
  ['a unit that nobody knows', 'points', { points: [{ ...POINT, unit: 'furlong' }] }, 422, 'invalid'],
  ['a role that is none', 'points', { points: [{ ...POINT, role: 'sa_tt' }] }, 422, 'invalid'],
  ['a role of something else', 'points', { points: [{ ...POINT, role: 'kw' }] }, 422, 'invalid'],
  ['equipment that is not there', 'points', { points: [{ ...POINT, equipment_id: 'nowhere' }] }, 404, 'unknown_equipment'],
] as const) {
  test(`${path} with ${what} are answered with ${code}`, async t => {
    const answer = await post(`/api/model/${path}`, body)
    t.deepEqual([answer.status, answer.body.code], [status, code])
  })
}

const QUANTITY = {
  quantity_id: 'q1',
  property: 'ratedCOP',
  numeric_value: 3.2,
  unit_code: '1',
  quantity_kind: 'Efficiency',
  value_basis: 'Rated',
  source_type: 'nameplate',
}
test('a review goes back to NeedsReview before it turns', async t => {
  const put = (more: object) => post('/api/model/quantities', { quantities: [{ ...QUANTITY, ...more }] })
  for (const [review_status, status] of [
    [undefined, 200],
    ['Reviewed', 200],
    ['Rejected', 409],
    ['NeedsReview', 200],
    ['Rejected', 200],
    ['Reviewed', 409],
    ['Rejected', 200],
  ] as const) {
    t.is((await put(review_status ? { review_status } : {})).status, status, review_status)
  }
  t.is((await put({ review_status: 'Maybe' })).status, 400)
  t.is((await put({ colour: 'red' })).status, 400)
  const { body } = await site.call('viewer', 'GET', '/api/model/quantities')
  t.like(body.quantities[0], { quantity_id: 'q1', review_status: 'Rejected', numeric_value: 3.2 })
})

test('a list is cut into pages that follow each other, and takes no cursor of others', async t => {
  const ids: string[] = []
  let cursor = ''
  do {
    const { body } = await site.call('viewer', 'GET', `/api/model/points?building_id=b1&limit=2${cursor && `&cursor=${cursor}`}`)
    ids.push(...body.points.map((point: { point_id: string }) => point.point_id))
    cursor = body.next_cursor ?? ''
  } while (cursor)
  t.deepEqual(ids, ['p1', 'p2', 'p3'])
  for (const wrong of ['', '!!', Buffer.from('nothing').toString('base64url')]) {
    const answer = await site.call('viewer', 'GET', `/api/model/points?building_id=b1&cursor=${wrong}`)
    t.deepEqual([answer.status, answer.body.code], [400, 'bad_cursor'], wrong)
  }
  t.is((await site.call('viewer', 'GET', '/api/model/points?building_id=b1&limit=0')).status, 400)
  t.is((await site.call('viewer', 'GET', '/api/model/points?building_id=b1&limit=1001')).status, 400)
})
