import test from 'ava'
import { suggestFor } from '#shared/flow/commission.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
  const source = { protocol: 'csv', address: 'x' } as const
  const point = (point_id: string, name: string, more: object = {}) => {
    return { point_id, building_id: 'b1', equipment_id: 'a1', name, unit: 'degF', kind: 'number' as const, source, ...more }
  }
  site.central.context.model.put({
    building: { building_id: 'b1', name: 'B 1', site_id: 's', timezone: 'UTC', unit_system: 'si' },
    equipment: [{ equipment_id: 'a1', building_id: 'b1', name: 'AHU 1', equipment_type: 'ahu' }],
    points: [
      point('p1', 'AHU-1 SupplyAirTemp'),
      point('p2', 'AHU-1 OAT', { role: 'oa_t' }),
      point('p3', 'AHU-1 Outdoor Air Temp'),
      point('p4', '=cmd|calc'),
    ],
  })
})
test.after.always(() => site?.close())

test('points without a role come with what they seem to be, and nothing is assigned', async t => {
  const { status, body } = await site.call('viewer', 'GET', '/api/model/suggestions?building_id=b1')
  t.is(status, 200)
  t.deepEqual(
    body.points.map(({ point_id, suggestions }: any) => `${point_id} ${suggestions[0]?.role}`),
    ['p1 sa_t', 'p3 undefined', 'p4 undefined'],
    'what another point is already is not suggested again',
  )
  t.true(body.points[0].suggestions[0].confidence > 0.9)
  t.is(site.central.context.model.points('b1').find(({ point_id }) => point_id === 'p1')!.role, undefined)
  const page = await site.call('viewer', 'GET', '/api/model/suggestions?building_id=b1&limit=2')
  t.is(page.body.points.length, 2)
  const rest = await site.call('viewer', 'GET', `/api/model/suggestions?building_id=b1&limit=2&cursor=${page.body.next_cursor}`)
  t.deepEqual([rest.body.points.length, rest.body.next_cursor], [1, undefined])
})

test('a point that nobody measures any more is suggested nothing, and stays gone when it is renamed', async t => {
  const { model } = site.central.context
  const at = Date.UTC(2026, 10, 20, 20)
  const left = { ...model.points('b1')[0]!, building_id: 'b2', point_id: 'p9', edge_id: 'edge-1', gone: { at, role: 'sa_t' } }
  model.put({
    building: { building_id: 'b2', name: 'B 2', site_id: 's', timezone: 'UTC', unit_system: 'si' },
    equipment: [{ equipment_id: 'a1', building_id: 'b2', name: 'AHU 1', equipment_type: 'ahu' }],
    points: [left],
  })
  t.deepEqual((await site.call('viewer', 'GET', '/api/model/suggestions?building_id=b2')).body.points, [])
  const { edge_id: _edge, gone: _gone, ...sent } = { ...left, name: 'Renamed' }
  t.is((await site.call('operator', 'POST', '/api/model/points', { points: [sent] })).status, 200)
  const { body } = await site.call('viewer', 'GET', '/api/model/points?building_id=b2')
  t.like(body.points[0], { name: 'Renamed', edge_id: 'edge-1', gone_at: '2026-11-20T20:00:00Z' })
  t.is(body.points[0].gone, undefined)
  t.deepEqual(model.points('b2')[0]!.gone, { at, role: 'sa_t' })
})

test('a point that has a role is suggested no other, whatever its name says', t => {
  const { model } = site.central.context
  const [known] = model.points('b1').filter(({ point_id }) => point_id === 'p2')
  const found = suggestFor([{ ...known!, name: 'AHU-1 SupplyAirTemp' }], model.equipment('b1'))
  t.deepEqual(found[0]!.suggestions, [])
})

test('coverage names what each rule lacks, as JSON and as CSV', async t => {
  const { status, body } = await site.call('viewer', 'GET', '/api/fdd/coverage?building_id=b1')
  t.is(status, 200)
  t.is(body.can_run + body.cannot_run, body.rules.length)
  const { missing } = body.rules.find(({ rule_id }: any) => rule_id === 'AHU-FC13-COOL-FULL')
  t.true(missing.includes('sa_t'))
  t.true(body.gains.length > 0)
  const csv = await site.call('viewer', 'GET', '/api/fdd/coverage?building_id=b1', undefined, { accept: 'text/csv' })
  t.is(csv.text.split('\r\n').length, body.rules.length + 2)
})

test('a building that is not there is named', async t => {
  for (const path of ['/api/model/suggestions', '/api/fdd/coverage']) {
    const { status, body } = await site.call('viewer', 'GET', `${path}?building_id=nowhere`)
    t.deepEqual([status, body.code], [404, 'unknown_building'])
  }
})
