/** The columns of a staged table are mapped after its upload, through the API. */
import test from 'ava'
import { readFileSync } from 'node:fs'
import { importer } from '../../../support/packages/importer.ts'
import { airHandler, MAP, rows, table, zipForm, zipOf } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { ownBuilding, execute, history, preflight } = importer(() => site)

/** As a building system exports it: date and time of day apart, the first column a number, several equipments side by side. */
const LINES = Array.from({ length: 12 }, (_, i) => `${i},5/7/2026,08:${String(i * 5).padStart(2, '0')},${60 + i},${300 + i},x`)
const EXPORT = ['No,Date,Time,AHU-1 SAT,VAV-3 Flow,Remark', ...LINES, '12,5/7/2026', ''].join('\r\n')

function form(building_id: string): FormData {
  const fields = new FormData()
  fields.append('package', new Blob([EXPORT]), 'export.csv')
  const given = { building_id, grid_minutes: '5', timezone: 'America/Chicago', equipment_id: 'AHU-1', equipment_type: 'ahu' }
  for (const [name, value] of Object.entries(given)) fields.append(name, value)
  return fields
}
const stage = async (building_id: string) => {
  const { status, body } = await site.call('operator', 'POST', '/api/csv/import/preflight', form(building_id))
  return { status, body, path: `/api/csv/import/preflight/${body.session_id}/mapping` }
}

test('an export with date and time apart and two equipments side by side is mapped, checked again and imported', async t => {
  const { building_id } = ownBuilding()
  const { body, path } = await stage(building_id)
  t.false(body.can_execute, 'the first column is no time')
  const before = await site.call('operator', 'GET', path)
  t.like(before.body, { headers: ['No', 'Date', 'Time', 'AHU-1 SAT', 'VAV-3 Flow', 'Remark'] })
  t.deepEqual(before.body.rows[1], ['1', '5/7/2026', '08:05', '61', '301', 'x'])
  t.is(before.body.rows.length, 5)
  t.like(before.body.mapping, {
    building_id,
    time_columns: ['No'],
    equipment: [{ equipment_id: 'AHU-1', equipment_type: 'ahu' }],
  })

  const mapping = {
    ...{ building_id, timezone: 'America/Chicago', grid_minutes: 5, date_order: 'mdy', time_columns: ['Date', 'Time'] },
    equipment: [
      { equipment_id: 'AHU-1', equipment_type: 'ahu' },
      { equipment_id: 'VAV-3', equipment_type: 'vav' },
    ],
    columns: [
      { header: 'AHU-1 SAT', equipment_id: 'AHU-1', role: 'sa_t', unit: 'degF' },
      { header: 'VAV-3 Flow', equipment_id: 'VAV-3', unit: 'cfm' },
    ],
  }
  const after = await site.call('operator', 'PUT', path, mapping)
  t.is(after.status, 200, after.text)
  t.like(after.body, { session_id: body.session_id, can_execute: true, rows_in: 13, rows_rejected: 1 })
  t.deepEqual(
    after.body.equipment.map((one: any) => [one.equipment_id, one.rows, one.first_at_local, one.columns.length]),
    [
      ['AHU-1', 12, '2026-05-07 08:00:00 America/Chicago', 1],
      ['VAV-3', 12, '2026-05-07 08:00:00 America/Chicago', 1],
    ],
  )
  t.like((await site.call('operator', 'GET', path)).body.mapping, mapping)

  const done = await execute(body.session_id)
  t.like(done.body, { rows_in: 13, rows_written: 12, rows_rejected: 1, samples_written: 24 }, done.text)
  const points = await site.call('viewer', 'GET', `/api/model/points?building_id=${building_id}`)
  t.deepEqual(
    points.body.points.map((point: any) => [point.equipment_id, point.source.address, point.role, point.unit]),
    [
      ['AHU-1', 'AHU-1 SAT', 'sa_t', 'degF'],
      ['VAV-3', 'VAV-3 Flow', undefined, 'cfm'],
    ],
  )
  const { ts, values } = await history(building_id, points.body.points[0].point_id)
  t.deepEqual([ts[0], ts.length, values[11]], [Date.UTC(2026, 4, 7, 13), 12, 71])
  t.is((await site.call('operator', 'PUT', path, mapping)).status, 409, 'it was imported')
  t.is((await site.call('operator', 'GET', path)).status, 409)
})

/** Bytes that this process has read, from files and sockets. */
const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))![1])

test.serial('a table with columns of fifty equipment is read once by its check and once by its import', async t => {
  const { building_id } = ownBuilding()
  const ids = Array.from({ length: 50 }, (_, i) => `VAV-${i}`)
  const at = (i: number) => new Date(Date.UTC(2026, 2, 1) + i * 300_000).toISOString()
  const lines = Array.from({ length: 4000 }, (_, i) => [at(i), ...ids.map((_id, k) => 20 + ((i + k) % 7) / 10)].join(','))
  const text = [['Time', ...ids].join(','), ...lines, ''].join('\n')
  const fields = form(building_id)
  fields.set('package', new Blob([text]), 'wide.csv')
  const { body } = await site.call('operator', 'POST', '/api/csv/import/preflight', fields)
  const mapping = {
    ...{ building_id, timezone: 'UTC', grid_minutes: 5, time_columns: ['Time'] },
    equipment: ids.map(equipment_id => ({ equipment_id, equipment_type: 'vav' })),
    columns: ids.map(id => ({ header: id, equipment_id: id, role: 'zone_t', unit: 'degC' })),
  }
  const read: number[] = []
  const counted = async (work: () => Promise<any>) => {
    const before = bytesRead()
    const { body: said, text: told } = await work()
    read.push((bytesRead() - before) / text.length)
    t.is(said.rows_in, 4000, told)
  }
  await counted(() => site.call('operator', 'PUT', `/api/csv/import/preflight/${body.session_id}/mapping`, mapping))
  await counted(() => execute(body.session_id))
  t.true(
    read.every(times => times < 3),
    read.join(', '),
  )
})

test('a mapping that is wrong changes nothing, and rejected rows follow the columns of the time', async t => {
  const { building_id } = ownBuilding()
  const { body, path } = await stage(building_id)
  const { mapping } = (await site.call('operator', 'GET', path)).body
  const wrong = await site.call('operator', 'PUT', path, { ...mapping, columns: [{ header: 'RAT', equipment_id: 'AHU-1' }] })
  t.like(wrong, { status: 422, body: { code: 'invalid' } })
  t.is(wrong.body.errors[0].pointer, '/columns/0/header')
  t.deepEqual((await site.call('operator', 'GET', path)).body.mapping, mapping)
  t.is((await site.call('operator', 'PUT', path, { ...mapping, extra: 1 })).status, 400)

  const columns = [{ header: 'AHU-1 SAT', equipment_id: 'AHU-1', role: 'sa_t', unit: 'degF' }]
  const dated = { ...mapping, date_order: 'mdy', time_columns: ['Date', 'Time'], columns }
  t.is((await site.call('operator', 'PUT', path, dated)).body.rows_rejected, 1)
  const rejects = await site.call('operator', 'GET', path.replace('mapping', 'rejects.csv'))
  t.regex(rejects.text, /AHU-1\/export\.csv,14,row_width/)
  t.is(rejects.text.trim().split('\r\n').length, 2)
  t.is((await site.call('operator', 'PUT', path, dated)).status, 200, 'it can be mapped again')
  t.is((await execute(body.session_id)).status, 200)
})

test('links of a column map stay, and a viewer maps nothing', async t => {
  const manifest = ownBuilding()
  const files = airHandler(table(rows(6)), { manifest, map: { feeds: ['VAV-1'], equip: undefined } })
  const one = await preflight(files)
  const path = `/api/csv/import/preflight/${one.body.session_id}/mapping`
  const { mapping } = (await site.call('operator', 'GET', path)).body
  t.deepEqual(mapping.columns, [
    { header: 'SAT', equipment_id: 'AHU-1', role: 'sa_t', unit: 'degF' },
    { header: 'OAT', equipment_id: 'AHU-1', role: 'oa_t', unit: 'degF' },
    { header: 'Fan', equipment_id: 'AHU-1', role: 'fan_status' },
  ])
  const again = await site.call('operator', 'PUT', path, mapping)
  t.true(
    again.body.checks.some(({ code }: { code: string }) => code === 'link_unknown'),
    'feeds is still stated',
  )
  for (const [method, sent] of [['GET'], ['PUT', mapping]] as const)
    t.is((await site.call('viewer', method, path, sent)).status, 403)

  t.is((await site.call('operator', 'GET', '/api/csv/import/preflight/00000000-0000-4000-8000-000000000000/mapping')).status, 404)
})

/** Three tables that nobody has described, of one building system. */
const SEVERAL = {
  'east/trend.csv': ['When,SAT,RAT', ...Array.from({ length: 6 }, (_, i) => `5/7/2026 0${i}:00,${60 + i},${70 + i}`), ''].join(
    '\n',
  ),
  'west/trend.csv': ['Zeit;Flow', ...Array.from({ length: 6 }, (_, i) => `07.05.2026 0${i}:30;${300 + i}`), ''].join('\n'),
  'notes.csv': 'who,what\nkim,looked\n',
}

test('tables of a package are mapped one after the other, each with its own dates, and one is left out', async t => {
  const { building_id } = ownBuilding()
  const staged = await site.call('operator', 'POST', '/api/csv/import/preflight', zipForm(await zipOf(SEVERAL)))
  t.false(staged.body.can_execute)
  const path = `/api/csv/import/preflight/${staged.body.session_id}/mapping`
  const first = (await site.call('operator', 'GET', path)).body
  const keys = new Map(first.tables.map(({ table: key, path: of }: any) => [of, key]))
  t.deepEqual([...keys.keys()], ['east/trend.csv', 'notes.csv', 'west/trend.csv'])
  t.deepEqual([first.table, first.headers], [keys.get('east/trend.csv'), ['When', 'SAT', 'RAT']])
  const common = { building_id, timezone: 'America/Chicago', grid_minutes: 60 }
  const mapped = (
    time: string,
    date_order: string,
    equipment_id: string,
    columns: [header: string, role: string, unit: string][],
  ) => ({
    ...{ ...common, date_order, time_columns: [time] },
    equipment: [{ equipment_id, equipment_type: 'ahu' }],
    columns: columns.map(([header, role, unit]) => ({ header, equipment_id, role, unit })),
  })
  const east = mapped('When', 'mdy', 'AHU-1', [['SAT', 'sa_t', 'degF']])
  t.is((await site.call('operator', 'PUT', path, east)).status, 409, 'of several tables one has to be named')
  const put = (of: string, mapping: object) => site.call('operator', 'PUT', `${path}?table=${keys.get(of)}`, mapping)
  t.is((await put('east/trend.csv', east)).status, 200)
  t.is((await site.call('operator', 'GET', path)).body.table, keys.get('notes.csv'), 'the next that nobody has described')
  t.is((await site.call('operator', 'GET', `${path}?table=other`)).status, 404)
  // The same equipment may have columns in several tables.
  const west = mapped('Zeit', 'dmy', 'AHU-1', [['Flow', 'sa_flow', 'cfm']])
  const both = await put('west/trend.csv', west)
  t.false(both.body.can_execute, 'nobody has said what is in the notes')
  const rest = await site.call('operator', 'DELETE', `${path}?table=${keys.get('notes.csv')}`)
  t.true(rest.body.can_execute, rest.text)
  t.like(rest.body, { rows_in: 12, rows_rejected: 0 })
  t.like((await site.call('operator', 'GET', `${path}?table=${keys.get('east/trend.csv')}`)).body.mapping, east)
  t.like((await site.call('operator', 'GET', `${path}?table=${keys.get('west/trend.csv')}`)).body.mapping, west)
  // Mapped once more, a table takes its own place.
  const again = await put(
    'east/trend.csv',
    mapped('When', 'mdy', 'AHU-1', [
      ['SAT', 'sa_t', 'degF'],
      ['RAT', 'ra_t', 'degF'],
    ]),
  )
  t.like(again.body, { can_execute: true, rows_in: 12 })
  t.is((await execute(staged.body.session_id)).status, 200)
  const { points } = (await site.call('viewer', 'GET', `/api/model/points?building_id=${building_id}`)).body
  t.deepEqual(points.map(({ equipment_id, role }: any) => `${equipment_id} ${role}`).toSorted(), [
    'AHU-1 ra_t',
    'AHU-1 sa_flow',
    'AHU-1 sa_t',
  ])
  const flow = points.find(({ role }: any) => role === 'sa_flow')
  t.is((await history(building_id, flow.point_id)).ts[0], Date.UTC(2026, 4, 7, 5, 30))
})

test('of a package, the trusted windows beside a table and those of all stay, and the only table is not left out', async t => {
  const manifest = ownBuilding()
  const windows = JSON.stringify({ trusted_windows: [{ start: '2026-03-01T06:10:00Z', end: '2026-03-01T06:20:00Z' }] })
  const files = {
    ...airHandler(table(rows(6)), { manifest }),
    'AHU-1/quality.json': windows,
    'AHU-2/column_map.json': JSON.stringify({ ...MAP, equip: 'AHU-2' }),
    'AHU-2/history_wide.csv': table(rows(6)),
  }
  const { body } = await preflight(files)
  const path = `/api/csv/import/preflight/${body.session_id}/mapping`
  const one = (await site.call('operator', 'GET', path)).body
  const { tables } = one
  t.deepEqual(
    tables.map(({ equipment }: any) => equipment),
    [['AHU-1'], ['AHU-2']],
  )
  const trusted = (checks: any[]) =>
    checks.filter(({ code }) => code === 'quality_applied').map(({ message }) => message.split(':')[0])
  const after = await site.call('operator', 'PUT', `${path}?table=${tables[0].table}`, one.mapping)
  t.deepEqual(trusted(after.body.checks), ['history_wide/AHU-1/quality.json'], after.text)
  t.is(after.body.equipment.length, 2)
  const left = await site.call('operator', 'DELETE', `${path}?table=${tables[1].table}`)
  t.is(left.body.equipment.length, 1)
  t.is((await site.call('operator', 'DELETE', `${path}?table=${tables[0].table}`)).status, 409)
})

test('a column of the time that the table does not have is an error', async t => {
  const manifest = ownBuilding()
  const { body } = await preflight(airHandler(table(rows(6)), { manifest, map: { time_columns: ['When'] } }))
  t.false(body.can_execute)
  const check = body.checks.find(({ code }: { code: string }) => code === 'column_missing')
  t.like(check, { severity: 'error', examples: ['When'] })
  const bad = await preflight(airHandler(table(rows(6)), { manifest, map: { time_columns: [], columns: 'SAT' } }))
  t.regex(JSON.stringify(bad.body.checks), /time_columns is not a list of one or 2 headers.*columns is not a list/)
})
