import test from 'ava'
import { openAsBlob } from 'node:fs'
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { importer } from '../../../support/packages/importer.ts'
import { airHandler, MANIFEST, MAP, rows, table } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const local = (lines: string[]) => table(lines, 'timestamp,SAT')
const { ownBuilding, preflight, execute, imported, history } = importer(() => site)

test('a package goes in by preflight and execute and comes out as history, model and mapping', async t => {
  const manifest = ownBuilding()
  const { building_id } = manifest
  const { status, body } = await preflight(airHandler(table(rows(12)), { manifest }))
  t.is(status, 200)
  t.deepEqual([body.verdict, body.can_execute, body.rows_in, body.rows_rejected], ['pass', true, 12, 0])
  t.like(body.equipment[0], {
    equipment_id: 'AHU-1',
    equipment_type: 'ahu',
    rows: 12,
    first_at: '2026-03-01T06:00:00Z',
    first_at_local: '2026-03-01 00:00:00 America/Chicago',
    grid_minutes_seen: 5,
  })
  t.deepEqual(body.equipment[0].columns[0], { header: 'SAT', role: 'sa_t', unit: 'degF', status: 'mapped' })
  t.is(
    (await site.call('viewer', 'GET', `/api/model/points?building_id=${building_id}`)).status,
    404,
    'a preflight changes nothing',
  )

  const done = await execute(body.session_id)
  t.like(done.body, {
    ok: true,
    building_id,
    rows_in: 12,
    rows_written: 12,
    rows_duplicate: 0,
    rows_rejected: 0,
    equipment: ['AHU-1'],
  })
  const { ts, values } = await history(building_id, 'AHU-1.SAT')
  t.deepEqual([ts.length, ts[0], values[0], values[11]], [12, Date.UTC(2026, 2, 1, 6), 60, 59.89])

  const mapping = await site.call(
    'viewer',
    'GET',
    `/api/csv/import/package/mapping?building_id=${building_id}&equipment_id=AHU-1`,
  )
  t.is(mapping.body.count, 3)
  t.like(mapping.body.columns[2], {
    header: 'SAT',
    role: 'sa_t',
    unit: 'degF',
    status: 'mapped',
    samples: 12,
    sampling_minutes: 5,
  })
  t.like(site.central.context.model.building(building_id), { timezone: 'America/Chicago', unit_system: 'si', site_id: 'site-1' })
})

test('the same package again adds nothing; a session is imported once; replace drops what was there', async t => {
  const manifest = ownBuilding()
  const files = airHandler(table(rows(12)), { manifest })
  await imported(files)
  const { body } = await preflight(files)
  const again = await execute(body.session_id)
  t.like(again.body, { rows_in: 12, rows_written: 0, rows_duplicate: 12 })
  t.is((await execute(body.session_id)).body.code, 'conflict')
  const short = await preflight(airHandler(table(rows(3)), { manifest }))
  await execute(short.body.session_id, { mode: 'replace' })
  t.is((await history(manifest.building_id, 'AHU-1.SAT')).ts.length, 3)
})

for (const [what, body, status, code] of [
  ['no confirmation', { session_id: 'x' }, 422, 'confirm_required'],
  ['a refused confirmation', { session_id: 'x', confirm: false }, 422, 'confirm_required'],
  ['a confirmation as text', { session_id: 'x', confirm: 'true' }, 400, 'bad_request'],
  ['a session that is not there', { session_id: 'x', confirm: true }, 404, 'unknown_session'],
  ['a session that leads elsewhere', { session_id: '../../etc', confirm: true }, 404, 'unknown_session'],
  ['a mode that is none', { session_id: 'x', confirm: true, mode: 'wipe' }, 400, 'bad_request'],
] as const) {
  test(`execute with ${what} is answered with ${code}`, async t => {
    const answer = await site.call('operator', 'POST', '/api/csv/import/execute', body)
    t.deepEqual([answer.status, answer.body.code], [status, code])
  })
}

test('a dry run says what would come and writes nothing', async t => {
  const manifest = ownBuilding()
  const { body } = await preflight(airHandler(table(rows(4)), { manifest }))
  const dry = await site.call('operator', 'POST', '/api/csv/import/execute?dry_run=true', {
    session_id: body.session_id,
    confirm: true,
  })
  t.like(dry.body, { ok: true, dry_run: true, rows_in: 4, rows_written: 4, rows_duplicate: 0, samples_written: 12 })
  t.is(site.central.context.model.building(manifest.building_id), undefined)
  t.deepEqual(await site.central.historian.spans(manifest.building_id), [])
})

for (const mode of ['merge', 'replace'] as const) {
  test(`a dry run answers what the import by ${mode} then answers, also where history holds a part of the package`, async t => {
    const manifest = ownBuilding()
    const first = rows(6)
    await imported(airHandler(table(first), { manifest }))
    const corrected = [first[2]!, first[3]!.replace(',60,', ',61,').replace(/,59\.\d+,/, ',61,'), ...rows(8).slice(4)]
    const { body } = await preflight(airHandler(table(corrected), { manifest }))
    const call = (query: string) =>
      site.call('operator', 'POST', `/api/csv/import/execute${query}`, { session_id: body.session_id, confirm: true, mode })
    const { total_ms: _ms, dry_run, ...dry } = (await call('?dry_run=true')).body
    const { total_ms: _took, ...done } = (await call('')).body
    t.true(dry_run)
    t.deepEqual(dry, done)
    t.true(done.rows_written > 0)
    const { body: after } = await call('?dry_run=true')
    t.like(after, { dry_run: true, rows_written: 0, samples_written: 0 }, 'a package is imported once')
  })
}

test('a blank cell is no sample, a cell that says no value is kept as such, states become numbers', async t => {
  const manifest = ownBuilding()
  const lines = ['00:00:00Z,60,On', '00:05:00Z,,Off', '00:10:00Z,NaN,Off'].map(line => `2026-03-01T${line}`)
  await imported(
    airHandler(table(lines, 'timestamp_utc,SAT,Fan'), { manifest, map: { points: { sa_t: 'SAT', fan_status: 'Fan' } } }),
  )
  const sat = await history(manifest.building_id, 'AHU-1.SAT')
  t.deepEqual([...sat.values], [60, Number.NaN])
  const fan = await history(manifest.building_id, 'AHU-1.Fan')
  t.deepEqual([...fan.values], [1, 0, 0])
  const point = site.central.context.model.points(manifest.building_id).find(({ role }) => role === 'fan_status')
  t.like(point, { kind: 'bool', unit: 'bool', states: ['Off', 'On'] })
})

test('a later package in another unit is converted to the unit that history has', async t => {
  const manifest = ownBuilding()
  await imported(airHandler(table(['2026-03-01T00:00:00Z,50'], 'timestamp_utc,SAT'), { manifest }))
  await imported(
    airHandler(table(['2026-03-01T00:05:00Z,10'], 'timestamp_utc,SAT'), { manifest, map: { units: { SAT: 'degC' } } }),
  )
  const { values } = await history(manifest.building_id, 'AHU-1.SAT')
  t.deepEqual(
    [...values].map(value => Number(value.toFixed(6))),
    [50, 50],
  )
})

test('a package that was planned before another changed its points is not imported', async t => {
  const manifest = ownBuilding()
  const one = ['2026-03-01T00:00:00Z,50']
  const [fahrenheit, celsius] = await Promise.all(
    ['degF', 'degC'].map(SAT => preflight(airHandler(table(one, 'timestamp_utc,SAT'), { manifest, map: { units: { SAT } } }))),
  )
  t.is((await execute(fahrenheit!.body.session_id)).status, 200)
  const refused = await execute(celsius!.body.session_id)
  t.deepEqual([refused.status, refused.body.code], [409, 'conflict'])
  t.deepEqual([...(await history(manifest.building_id, 'AHU-1.SAT')).values], [50])
})

test('a chunk is added once, with its new column refused', async t => {
  const manifest = ownBuilding()
  const { building_id } = manifest
  await imported(airHandler(table(rows(12)), { manifest }))
  const chunk = table(rows(3, Date.UTC(2026, 2, 1, 6, 50)))
  const send = (csv: string, more: object = {}) =>
    site.call('operator', 'POST', '/api/csv/import/package/append', {
      confirm: true,
      building_id,
      equipment_id: 'AHU-1',
      csv,
      ...more,
    })
  const first = await send(chunk)
  t.like(first.body, {
    ok: true,
    rows_in: 3,
    rows_added: 3,
    rows_duplicate: 0,
    rows_rejected: 0,
    ts_min: '2026-03-01T06:50:00Z',
    ts_max: '2026-03-01T07:00:00Z',
  })
  t.like((await send(chunk)).body, { rows_in: 3, rows_added: 0, rows_duplicate: 3 })
  t.is((await history(building_id, 'AHU-1.SAT')).ts.length, 13)
  for (const [csv, more, status, code] of [
    [chunk, { confirm: undefined }, 422, 'confirm_required'],
    [chunk, { equipment_id: 'AHU-9' }, 404, 'unknown_equipment'],
    [chunk, { building_id: 'nowhere' }, 404, 'unknown_building'],
    ['', {}, 422, 'package_invalid'],
    ['timestamp_utc,SAT\n', {}, 422, 'package_invalid'],
    [table(rows(1), 'timestamp_utc,SAT,OAT,New'), {}, 422, 'package_invalid'],
    [local(['5/7/2022 12:05,60']), {}, 422, 'package_invalid'],
    [chunk, { force: true }, 400, 'bad_request'],
  ] as const) {
    const answer = await send(csv, more)
    t.deepEqual([answer.status, answer.body.code], [status, code], csv)
  }
  t.is((await send(local(['5/7/2022 12:05,60']), { date_order: 'mdy' })).body.ts_min, '2022-05-07T17:05:00Z')
  const zipped = await site.call('operator', 'POST', '/api/csv/import/package/append', 'PK', {
    'content-type': 'application/zip',
  })
  t.deepEqual([zipped.status, zipped.body.code], [415, 'append_takes_json'])
})

test('a mapping without a role is empty, and an empty mapping is a failure', async t => {
  const manifest = ownBuilding()
  const path = `/api/csv/import/package/mapping?building_id=${manifest.building_id}`
  t.is((await site.call('viewer', 'GET', path)).body.code, 'unknown_building')
  await imported(airHandler(table(rows(2)), { manifest, map: { points: {} } }))
  const empty = await site.call('viewer', 'GET', path)
  t.deepEqual([empty.status, empty.body.code], [422, 'mapping_empty'])
  t.is((await site.call('viewer', 'GET', `/api/csv/package/mapping?building_id=${manifest.building_id}`)).status, 404)
})

test('the contract lists every role with its unit, and the limits', async t => {
  const { body } = await site.call('viewer', 'GET', '/api/ingest/contract')
  t.is(body.contract_id, 'svc_ingest_v1')
  t.deepEqual(body.roles.find(({ role }: { role: string }) => role === 'sa_t').unit, 'degC')
  t.is(body.limits.expanded_bytes, 512 * 1024 * 1024)
})

// Alone: what other tests hold at the same time would count too.
test.serial('forty megabytes of CSV are read in passing, not held', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'plenum-big-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'history_wide.csv')
  await writeFile(file, 'timestamp_utc,SAT,OAT,Fan\n')
  for (let block = 0; block < 10; block++) await appendFile(file, `${rows(100_000, 1.2e12 + block * 3e10).join('\n')}\n`)
  const form = new FormData()
  form.append('manifest', JSON.stringify({ ...MANIFEST, ...ownBuilding() }))
  form.append('column_map', JSON.stringify(MAP))
  form.append('file', await openAsBlob(file), 'history_wide.csv')
  const before = process.memoryUsage().rss
  const { body } = await site.call('operator', 'POST', '/api/csv/import/preflight', form)
  const grown = (process.memoryUsage().rss - before) / 1e6
  t.deepEqual([body.rows_in, body.rows_rejected, body.verdict], [1_000_000, 0, 'pass'])
  // A million rows held as texts would be several hundred; what is collected late depends on the machine.
  t.true(grown < 250, `resident memory grew by ${grown} MB`)
})
