/** History goes out as a package, and comes back the same in an empty workspace. */
import test from 'ava'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { PASSWORDS, startCentral, type TestCentral } from '../../../support/sites/central-site.ts'
import { importer } from '../../../support/packages/importer.ts'
import { zipForm } from '../../../support/packages/packages.ts'

const START = Date.parse('2026-03-07T20:00:00Z')
const BUILDING = {
  building_id: 'school',
  name: 'School',
  site_id: 'demo',
  timezone: 'America/Chicago',
  unit_system: 'us' as const,
}
const place = { building_id: 'school' }
const EQUIPMENT = [
  { ...place, equipment_id: 'AHU-1', name: 'Air handler 1', equipment_type: 'ahu' as const, feeds: ['VAV-1', 'VAV-9'] },
  { ...place, equipment_id: 'ahu-1', name: 'Another', equipment_type: 'ahu' as const },
  { ...place, equipment_id: 'VAV-1', name: 'Room 12', equipment_type: 'vav' as const, parent_id: 'AHU-1' },
  { ...place, equipment_id: 'VAV-9', name: 'Never read', equipment_type: 'vav' as const },
]
const bacnet = (object: string) => ({ source: { protocol: 'bacnet' as const, address: `dev/${object}` } })
const POINTS = [
  {
    point_id: 'AHU-1.sa_t',
    equipment_id: 'AHU-1',
    name: 'Supply air, "T"',
    role: 'sa_t',
    unit: 'degF',
    kind: 'number' as const,
    ...bacnet('analog-input,1'),
    poll_secs: 60,
  },
  {
    point_id: 'AHU-1.fan',
    equipment_id: 'AHU-1',
    name: 'Fan',
    role: 'fan_status',
    unit: 'bool',
    kind: 'bool' as const,
    ...bacnet('binary-input,1'),
  },
  {
    point_id: 'AHU-1.dp',
    equipment_id: 'AHU-1',
    name: '=Duct',
    unit: 'inwc',
    kind: 'number' as const,
    ...bacnet('analog-input,2'),
  },
  {
    point_id: 'ahu-1.sa_t',
    equipment_id: 'ahu-1',
    name: 'Supply',
    role: 'sa_t',
    unit: 'degC',
    kind: 'number' as const,
    ...bacnet('analog-input,3'),
  },
  {
    point_id: 'r12-temp',
    equipment_id: 'VAV-1',
    name: 'Room',
    role: 'zone_t',
    unit: 'degF',
    kind: 'number' as const,
    ...bacnet('analog-input,4'),
  },
  { point_id: 'loose', name: 'Of no equipment', unit: 'count', kind: 'number' as const, ...bacnet('analog-input,5') },
].map(point => ({ ...place, ...point }))
/** Each point has times of its own, one of them no data, and across a change to summer time. */
const HELD = POINTS.flatMap(({ point_id }, i) =>
  Array.from({ length: 400 }, (_, n) => ({
    id: point_id,
    t: START + n * 5 * MINUTE + i * 137,
    v: n === 7 ? Number.NaN : point_id === 'AHU-1.fan' ? n % 2 : 55.1 + i + n / 7,
  })),
)

async function filled(t: { teardown: (end: () => unknown) => void }): Promise<TestCentral> {
  const site = await startCentral({ pages: true })
  t.teardown(() => site.close())
  site.central.stores.model.put({ building: BUILDING, equipment: EQUIPMENT, points: POINTS })
  await site.central.historian.append('school', HELD)
  return site
}

async function exported(site: TestCentral, path = '/api/csv/export?building_id=school'): Promise<Buffer> {
  const login = await site.call('nobody', 'POST', '/api/auth/login', { username: 'agent', password: PASSWORDS.agent })
  const answer = await fetch(site.url + path, {
    headers: { authorization: `Bearer ${login.body.token}` },
  })
  if (answer.status !== 200) throw new Error(await answer.text())
  return Buffer.from(await answer.arrayBuffer())
}

test('a package of history comes back with the same values, times, roles, units and names', async t => {
  const site = await filled(t)
  const zip = await exported(site)
  const other = await startCentral()
  t.teardown(() => other.close())
  const preflight = await other.call('operator', 'POST', '/api/csv/import/preflight', zipForm(zip))
  t.is(preflight.body.report?.can_execute ?? preflight.body.can_execute, true, preflight.text)
  const done = await other.call('operator', 'POST', '/api/csv/import/execute', {
    session_id: preflight.body.session_id,
    confirm: true,
  })
  t.is(done.status, 200, done.text)

  t.like(other.central.stores.model.building('school'), { timezone: 'America/Chicago', unit_system: 'us' })
  const links = other.central.stores.model
    .equipment('school')
    .map(({ equipment_id, equipment_type, parent_id, feeds }) => ({ equipment_id, equipment_type, parent_id, feeds }))
  t.deepEqual(links, [
    { equipment_id: 'AHU-1', equipment_type: 'ahu', parent_id: undefined, feeds: ['VAV-1'] },
    { equipment_id: 'VAV-1', equipment_type: 'vav', parent_id: 'AHU-1', feeds: undefined },
    { equipment_id: 'ahu-1', equipment_type: 'ahu', parent_id: undefined, feeds: undefined },
  ])
  const points = new Map(other.central.stores.model.points('school').map(point => [`${point.equipment_id} ${point.name}`, point]))
  t.is(points.size, 5)
  for (const point of POINTS.slice(0, 5)) {
    const back = points.get(`${'equipment_id' in point ? point.equipment_id : ''} ${point.name}`)
    t.like(back, { role: 'role' in point ? point.role : undefined, unit: point.unit, kind: point.kind }, point.name)
    const read = async (from: TestCentral, point_id: string) => {
      const [series] = await from.central.historian.read({ building_id: 'school', point_ids: [point_id], from: 0, to: 4e12 })
      return series!
    }
    t.deepEqual(await read(other, back!.point_id), await read(site, point.point_id), point.name)
  }
  t.is(points.get('AHU-1 Fan')?.point_id, 'AHU-1.fan')
})

test('what was imported and goes out is all there already when it is imported again', async t => {
  const site = await startCentral()
  t.teardown(() => site.close())
  const { imported } = importer(() => site)
  const map = { equipType: 'ahu', equip: 'AHU-1', points: { sa_t: 'Supply air (°F)' }, units: { 'Supply air (°F)': 'degF' } }
  await imported({
    'manifest.json': JSON.stringify({
      schema_version: 'svc_package_v1',
      building_id: 'school',
      grid_minutes: 5,
      timezone: 'UTC',
    }),
    'AHU-1/column_map.json': JSON.stringify(map),
    'AHU-1/history_wide.csv': 'timestamp_utc,Supply air (°F),@Else\n2026-03-01T00:00:00Z,55,1\n2026-03-01T00:05:00Z,56.5,nan\n',
  })
  const before = site.central.stores.model.points('school')
  const zip = await exported(site)
  const { body } = await site.call('operator', 'POST', '/api/csv/import/preflight', zipForm(zip))
  const again = await site.call('operator', 'POST', '/api/csv/import/execute', { session_id: body.session_id, confirm: true })
  t.like(again.body, { samples_written: 0, samples_duplicate: 4 })
  t.deepEqual(site.central.stores.model.points('school'), before)
})

// 8 March begins at 06:00 UTC in Chicago and is 23 h long.
for (const [name, path] of [
  ['the API', '/api/csv/export?building_id=school&equipment_id=VAV-1&from=2026-03-08&to=2026-03-09'],
  ['the form', '/import/history.zip?building_id=school&equipment_id=VAV-1&from=2026-03-08&through=2026-03-08'],
] as const) {
  test(`through ${name} a day of the building and one equipment go out as a part of the history`, async t => {
    const site = await filled(t)
    const other = await startCentral()
    t.teardown(() => other.close())
    const { body } = await other.call('operator', 'POST', '/api/csv/import/preflight', zipForm(await exported(site, path)))
    await other.call('operator', 'POST', '/api/csv/import/execute', { session_id: body.session_id, confirm: true })
    t.deepEqual(
      other.central.stores.model.equipment('school').map(({ equipment_id }) => equipment_id),
      ['VAV-1'],
    )
    const [span] = await other.central.historian.spans('school')
    const from = Date.parse('2026-03-08T06:00:00Z')
    t.true(span!.first >= from && span!.first < from + 5 * MINUTE)
    t.true(span!.last < from + 23 * HOUR && span!.last >= from + 23 * HOUR - 5 * MINUTE)
    t.is(span!.samples, (23 * HOUR) / (5 * MINUTE))
  })
}

for (const [query, status, code] of [
  ['building_id=other', 404, 'unknown_building'],
  ['building_id=school&equipment_id=none', 404, 'unknown_equipment'],
  ['building_id=school&from=2027-01-01', 422, 'invalid'],
  ['building_id=school&equipment_id=VAV-9', 422, 'invalid'],
  ['building_id=school&from=yesterday', 400, 'bad_request'],
] as const) {
  test(`${query} is refused with ${code}`, async t => {
    const site = await filled(t)
    const answer = await site.call('viewer', 'GET', `/api/csv/export?${query}`)
    t.is(answer.status, status)
    t.is(answer.body.code, code)
  })
}
