import test from 'ava'
import { openAsBlob } from 'node:fs'
import { appendFile, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { airHandler, type Files, folderForm, MANIFEST, MAP, rows, table, zipForm, zipOf } from './packages.ts'
import { startCentral, type TestCentral } from './site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())

let lastBuilding = 0
/** A building of its own for each test, as they share one process. */
const ownBuilding = () => ({ building_id: `own-${++lastBuilding}` })

const preflight = async (files: Files) => site.call('operator', 'POST', '/api/csv/import/preflight', zipForm(await zipOf(files)))
const execute = (session_id: string, more: object = {}) =>
  site.call('operator', 'POST', '/api/csv/import/execute', { session_id, confirm: true, ...more })
const imported = async (files: Files) => {
  const { body } = await preflight(files)
  const answer = await execute(body.session_id)
  if (answer.status !== 200) throw new Error(answer.text)
  return answer.body
}
const history = async (building_id: string, point_id: string) =>
  site.central.historian.read({ building_id, point_ids: [point_id], from: 0, to: 4e12 }).then(([series]) => series!)
type Seen = { code: string; severity: string; count: number; message: string; examples: string[] }
const checkOf = (checks: Seen[], code: string) => checks.find(check => check.code === code)

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
  t.like(dry.body, { ok: true, dry_run: true, rows_in: 4, rows_written: 0 })
  t.is(site.central.context.model.building(manifest.building_id), undefined)
})

const ISO = 'timestamp'
const local = (lines: string[], header = `${ISO},SAT`) => table(lines, header)
const SAT = { points: { sa_t: 'SAT' }, units: { SAT: 'degF' } }
for (const [what, csv, more, code, severity, count] of [
  ['an empty table', '', {}, 'no_rows', 'error', 1],
  ['nothing but a header', 'timestamp_utc,SAT\n', {}, 'no_rows', 'error', undefined],
  ['no readable time at all', local(['x,1', 'y,2']), {}, 'timestamp_unreadable', 'warning', 2],
  ['no number at all', table(['2026-03-01T00:00:00Z,'], 'timestamp_utc,SAT'), {}, 'no_numeric_columns', 'error', 1],
  ['dates of two meanings', local(['5/7/2022 12:05,1', '5/7/2022 12:10,1']), {}, 'timestamp_ambiguous', 'error', 1],
  [
    'a local hour that occurs twice',
    local(['2026-11-01 01:30,60', '2026-11-01 03:30,60']),
    {},
    'timestamp_ambiguous',
    'warning',
    1,
  ],
  [
    'a local hour that does not exist',
    local(['2026-03-08 02:30,60', '2026-03-08 03:30,60']),
    {},
    'timestamp_skipped',
    'warning',
    1,
  ],
  [
    'local times and no zone',
    local(['2026-03-08 02:30,60']),
    { manifest: { timezone: undefined } },
    'timezone_missing',
    'error',
    1,
  ],
  ['a time twice', local(['2026-03-08 00:30,60', '2026-03-08 00:30,61']), {}, 'timestamp_duplicate', 'warning', 1],
  ['times out of order', local(['2026-03-08 00:30,60', '2026-03-08 00:25,61']), {}, 'timestamp_out_of_order', 'warning', 1],
  ['a gap', local(['0:00', '0:05', '0:10', '4:10'].map(time => `2026-03-08 0${time},60`)), {}, 'timestamp_gap', 'info', 1],
  [
    'a last row that is cut off',
    'timestamp_utc,SAT,OAT\n2026-03-01T00:00:00Z,1,2\n2026-03-01T00:05:00Z,1',
    {},
    'row_truncated',
    'warning',
    1,
  ],
  [
    'a row that is too long',
    local(['2026-03-08 00:30,60', '2026-03-08 00:35,60,7', '2026-03-08 00:40,60']),
    {},
    'row_width',
    'warning',
    1,
  ],
  [
    'a quote that is never closed',
    `timestamp_utc,SAT\n2026-03-01T00:00:00Z,"${rows(50_000).join('\n')}`,
    {},
    'row_unreadable',
    'error',
    1,
  ],
  ['a unit that nobody knows', table(rows(3)), { map: { units: { SAT: 'furlong' } } }, 'unit_unknown', 'error', 1],
  ['a unit of something else', table(rows(3)), { map: { units: { SAT: 'Pa', OAT: 'degF' } } }, 'unit_mismatch', 'error', 1],
  ['no unit', table(rows(3)), { map: { units: {} } }, 'unit_missing', 'warning', 2],
  [
    'no unit and values that are of another',
    table(['2026-03-01T00:00:00Z,140'], 'timestamp_utc,SAT'),
    { map: { units: {} } },
    'unit_implausible',
    'error',
    1,
  ],
  ['values that are implausible', table(['2026-03-01T00:00:00Z,900'], 'timestamp_utc,SAT'), {}, 'unit_implausible', 'warning', 1],
  ['a column without a role', table(rows(3)), { map: SAT }, 'column_unmapped', 'warning', 2],
  ['a role that is none', table(rows(3)), { map: { ...SAT, points: { sa_tt: 'SAT' } } }, 'column_unmapped', 'warning', 1],
  [
    'a mapped column that is missing',
    table(rows(3)),
    { map: { points: { sa_t: 'SAT', ra_t: 'RAT' } } },
    'column_missing',
    'warning',
    1,
  ],
  [
    'two columns for one role',
    table(rows(3)),
    { map: { points: { sa_t: 'SAT', sat: 'OAT' } } },
    'column_ambiguous',
    'warning',
    1,
  ],
  ['a header twice', table(['2026-03-01T00:00:00Z,1,2'], 'timestamp_utc,SAT,SAT'), {}, 'header_duplicate', 'error', 1],
  [
    'state texts',
    table(['2026-03-01T00:00:00Z,On', '2026-03-01T00:05:00Z,Off'], 'timestamp_utc,Fan'),
    {},
    'text_states',
    'info',
    1,
  ],
  [
    'texts of a flag of which nobody knows the order',
    table(['2026-03-01T00:00:00Z,Ja', '2026-03-01T00:05:00Z,Nein'], 'timestamp_utc,Fan'),
    {},
    'states_order_unknown',
    'error',
    1,
  ],
  [
    'a text among numbers',
    local(['2026-03-08 00:30,60', '2026-03-08 00:35,fault', '2026-03-08 00:40,60']),
    {},
    'value_unreadable',
    'warning',
    1,
  ],
  ['an equipment type that is none', table(rows(3)), { map: { equipType: 'elevator' } }, 'equipment_type_unknown', 'error', 1],
  ['an id that is none', table(rows(3)), { map: { equip: 'AHU/1' } }, 'id_invalid', 'error', 1],
  ['a manifest of another format', table(rows(3)), { manifest: { schema_version: 'x' } }, 'manifest_invalid', 'error', 1],
  ['a zone that is none', table(rows(3)), { manifest: { timezone: 'Mars/Base' } }, 'manifest_invalid', 'error', 1],
  ['a grid of no length', table(rows(3)), { manifest: { grid_minutes: 0 } }, 'manifest_invalid', 'error', 1],
  ['another grid than stated', table(rows(3)), { manifest: { grid_minutes: 15 } }, 'grid_differs', 'info', 1],
  ['semicolons', table(rows(3)).replaceAll(',', ';'), {}, 'delimiter_guessed', 'info', 1],
  [
    'another encoding',
    Buffer.from('timestamp_utc,SAT\xb0\n2026-03-01T00:00:00Z,1\n', 'latin1'),
    {},
    'encoding_guessed',
    'info',
    1,
  ],
  ['bytes that are no text', Buffer.from([0, 1, 2, 0, 0, 3]), {}, 'row_unreadable', 'error', 1],
] as const) {
  test(`preflight of ${what} finds ${code}, ${severity}`, async t => {
    const { status, body } = await preflight(
      airHandler(csv, {
        manifest: { ...ownBuilding(), ...('manifest' in more ? more.manifest : {}) },
        map: 'map' in more ? more.map : {},
      }),
    )
    t.is(status, 200)
    const check = checkOf(body.checks, code)
    t.is(check?.severity, severity, JSON.stringify(body.checks))
    if (count !== undefined) t.is(check?.count, count)
    t.is(
      body.verdict === 'fail',
      body.checks.some((one: Seen) => one.severity === 'error'),
    )
    t.is(body.can_execute, body.verdict !== 'fail')
    if (severity !== 'info') t.truthy(body.agent_hints.find((hint: { code: string }) => hint.code === code)?.action)
    const done = await execute(body.session_id)
    t.is(done.status, body.can_execute ? 200 : 422, done.text)
    if (!body.can_execute) t.is(done.body.code, 'package_invalid')
  })
}

test('an empty table among others is named, and the rest goes in', async t => {
  const files = {
    ...airHandler(table(rows(2)), { manifest: ownBuilding() }),
    'AHU-1/empty.csv': '',
    'AHU-1/header.csv': 'Times,Value\n',
  }
  const { body } = await preflight(files)
  t.deepEqual(
    body.checks.filter(({ code }: Seen) => code === 'no_rows').map(({ severity, message }: Seen) => `${severity} ${message}`),
    ['warning AHU-1/empty.csv: is empty', 'warning AHU-1/header.csv: holds a header and no rows'],
  )
  t.like((await execute(body.session_id)).body, { ok: true, rows_written: 2 })
})

test('the unknown unit names its column', async t => {
  const { body } = await preflight(airHandler(table(rows(3)), { manifest: ownBuilding(), map: { units: { SAT: 'furlong' } } }))
  t.regex(checkOf(body.checks, 'unit_unknown')!.message, /AHU-1\/history_wide\.csv: column SAT has the unit "furlong"/)
})

for (const [what, csv, more] of [
  ['a byte-order mark', `\uFEFF${table(rows(2))}`, {}],
  ['UTF-16', Buffer.from(`\uFEFF${table(rows(2))}`, 'utf16le'), {}],
  [
    'semicolons and decimal commas',
    'timestamp_utc;SAT;OAT;Fan\n2026-03-01T06:00:00Z;60,0;40,5;1\n2026-03-01T06:05:00Z;59,99;40,5;1\n',
    {},
  ],
  ['headers with blanks', table(rows(2), 'timestamp_utc, SAT  ,OAT ,Fan'), { map: { points: { sa_t: 'SAT ', oa_t: 'OAT' } } }],
  ['Windows line ends', table(rows(2)).replaceAll('\n', '\r\n'), {}],
  ['rows in reverse', table(rows(2).toReversed()), {}],
  ['blank lines and trailing commas', `timestamp_utc,SAT,OAT,Fan,\n\n${rows(2).join(',\n')},\n\n`, {}],
  [
    'a header and times in the manifest’s zone',
    table(['3/1/2026 0:00,60,40,1', '3/1/2026 0:05,59.99,40,1'], 'timestamp,SAT,OAT,Fan'),
    { manifest: { date_order: 'mdy' } },
  ],
  [
    'zone suffixes',
    table(['01-Mar-26 12:00:00 AM CST,60,40,1', '01-Mar-26 12:05:00 AM CST,59.99,40,1'], 'Timestamp,SAT,OAT,Fan'),
    { manifest: { timezone: 'Etc/UTC' } },
  ],
  ['the older manifest', table(rows(2)), { manifest: { schema_version: 'openfdd_package_v1' } }],
  ['Haystack names', table(rows(2)), { map: { points: { 'discharge-air-temp-sensor': 'SAT' } } }],
] as const) {
  test(`a table with ${what} gives the same history`, async t => {
    const manifest = { ...ownBuilding(), ...('manifest' in more ? more.manifest : {}) }
    const done = await imported(airHandler(csv, { manifest, map: 'map' in more ? more.map : {} }))
    t.like(done, { rows_in: 2, rows_written: 2, rows_rejected: 0 })
    const { ts, values } = await history(manifest.building_id, 'AHU-1.SAT')
    t.deepEqual(
      [[...ts], [...values]],
      [
        [Date.UTC(2026, 2, 1, 6), Date.UTC(2026, 2, 1, 6, 5)],
        [60, 59.99],
      ],
    )
    t.is(site.central.context.model.points(manifest.building_id).find(({ point_id }) => point_id === 'AHU-1.SAT')?.role, 'sa_t')
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

test('rows that are left out can be had as CSV', async t => {
  const lines = ['2026-11-01 00:30,60', '2026-11-01 01:30,60', '=cmd(),60', '2026-11-01 03:30,60,7', '2026-11-01 04:00,61']
  const { body } = await preflight(airHandler(local(lines), { manifest: ownBuilding() }))
  t.is(body.rows_rejected, 3)
  const { text, headers } = await site.call('operator', 'GET', `/api/csv/import/preflight/${body.session_id}/rejects.csv`)
  t.regex(headers.get('content-type')!, /^text\/csv/)
  t.deepEqual(text.trim().split('\r\n'), [
    'file,line,code,message,row',
    'AHU-1/history_wide.csv,3,timestamp_ambiguous,this local time occurs twice in America/Chicago,"2026-11-01 01:30,60"',
    'AHU-1/history_wide.csv,4,timestamp_unreadable,the timestamp cannot be read,"\'=cmd(),60"',
    'AHU-1/history_wide.csv,5,row_width,3 cells instead of 2,"2026-11-01 03:30,60,7"',
  ])
})

test('a folder of files and a single table with its fields are packages too', async t => {
  const folder = ownBuilding()
  const sent = await site.call(
    'operator',
    'POST',
    '/api/csv/import/preflight',
    folderForm(airHandler(table(rows(2)), { manifest: folder })),
  )
  t.is(sent.body.verdict, 'pass', sent.text)
  const single = ownBuilding()
  const form = new FormData()
  for (const [name, value] of Object.entries({ ...single, grid_minutes: '5', timezone: 'America/Chicago' }))
    form.append(name, value)
  form.append('column_map', JSON.stringify(MAP))
  form.append('file', new Blob([table(rows(2))]), 'export.csv')
  const one = await site.call('operator', 'POST', '/api/csv/import/preflight', form)
  t.is(one.body.verdict, 'pass', one.text)
  t.is((await execute(one.body.session_id)).status, 200)
  form.append('force', 'true')
  t.is((await site.call('operator', 'POST', '/api/csv/import/preflight', form)).body.code, 'bad_request')
})

test('point files as a building system exports them become one equipment, each named after its file', async t => {
  const manifest = { ...ownBuilding(), date_order: 'mdy' }
  const files = {
    'manifest.json': JSON.stringify({ ...MANIFEST, ...manifest }),
    'ahu/column_map.json': JSON.stringify({
      equipType: 'ahu',
      equip: 'S-7',
      points: { sa_t: 'S-7_DA-T', fan_status: 'S-7_SF-S' },
    }),
    'ahu/S-7_DA-T.csv': 'Times,Value (°F)\n5/7/2022 12:00,72.4\n5/7/2022 12:05,72.3\n',
    'ahu/S-7_SF-S.csv': 'Timestamp,Value\n07-May-22 12:00:43 PM CDT,On\n07-May-22 5:01:35 PM CDT,Off\n',
  }
  const done = await imported(files)
  t.like(done, { rows_in: 4, rows_written: 4, equipment: ['S-7'] })
  const points = site.central.context.model.points(manifest.building_id)
  t.deepEqual(
    points.map(({ point_id, role, unit }) => [point_id, role, unit]),
    [
      ['S-7.S-7_DA-T', 'sa_t', 'degF'],
      ['S-7.S-7_SF-S', 'fan_status', 'bool'],
    ],
  )
  t.is((await history(manifest.building_id, 'S-7.S-7_DA-T')).ts[0], Date.UTC(2022, 4, 7, 17))
})

const GOOD = airHandler(table(rows(2)))
for (const [what, make, pattern] of [
  [
    'a way out of the folder',
    () => zipOf({ ...GOOD, 'aa/bb/history.csv': 'x' }, { 'aa/bb/history.csv': '../../history.csv' }),
    /leads out of the package/,
  ],
  ['an absolute path', () => zipOf({ ...GOOD, 'aa/x.csv': 'x' }, { 'aa/x.csv': '/etc/x.c' }), /absolute path/],
  ['names that differ in case', () => zipOf({ ...GOOD, 'ahu-1/history_wide.csv': 'x' }), /differ in case/],
  ['a link', () => zipOf(GOOD, {}, 0o120_777), /is a link/],
  ['a bomb', () => zipOf({ ...GOOD, 'AHU-1/bomb.csv': Buffer.alloc(50_000_000) }), /as bombs do/],
  [
    '2001 entries',
    () => zipOf(Object.fromEntries(Array.from({ length: 2001 }, (_, i) => [`a/${i}.csv`, 'x']))),
    /more than 2000 entries/,
  ],
  ['nine folders', () => zipOf({ ...GOOD, [`${'a/'.repeat(9)}x.csv`]: 'x' }), /folders deep/],
  ['half its bytes', async () => (await zipOf(GOOD)).subarray(0, 200), /cannot be read/],
] as const) {
  test(`an archive with ${what} is refused by name, and nothing of it stays`, async t => {
    const answer = await site.call('operator', 'POST', '/api/csv/import/preflight', zipForm(await make()))
    t.deepEqual([answer.status, answer.body.code], [422, 'package_invalid'])
    t.regex(answer.body.detail, pattern)
  })
}

test('an upload without a file, and one that is no form, are refused', async t => {
  const empty = new FormData()
  empty.append('manifest', '{}')
  t.is((await site.call('operator', 'POST', '/api/csv/import/preflight', empty)).body.code, 'bad_request')
  const json = await site.call('operator', 'POST', '/api/csv/import/preflight', { csv: 'x' })
  t.deepEqual([json.status, json.body.code], [415, 'unsupported_media_type'])
  const folder = folderForm({ '../../evil.csv': 'x' })
  t.regex((await site.call('operator', 'POST', '/api/csv/import/preflight', folder)).body.detail, /leads out/)
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

test('forty megabytes of CSV are read in passing, not held', async t => {
  const folder = await mkdtemp(join(tmpdir(), 'plenum-big-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const file = join(folder, 'history_wide.csv')
  await writeFile(file, 'timestamp_utc,SAT,OAT,Fan\n')
  for (let block = 0; block < 10; block++) await appendFile(file, `${rows(100_000, 1.6e12 + block * 3e10).join('\n')}\n`)
  const form = new FormData()
  form.append('manifest', JSON.stringify({ ...MANIFEST, ...ownBuilding() }))
  form.append('column_map', JSON.stringify(MAP))
  form.append('file', await openAsBlob(file), 'history_wide.csv')
  const before = process.memoryUsage().rss
  const { body } = await site.call('operator', 'POST', '/api/csv/import/preflight', form)
  const grown = (process.memoryUsage().rss - before) / 1e6
  t.deepEqual([body.rows_in, body.rows_rejected, body.verdict], [1_000_000, 0, 'pass'])
  t.true(grown < 150, `resident memory grew by ${grown} MB`)
})

test.serial('what an upload leaves behind is its session alone', async t => {
  const before = new Set(await readdir(join(site.workspace, 'imports')))
  await site.call('operator', 'POST', '/api/csv/import/preflight', zipForm(Buffer.from('PK\u0003\u0004broken')))
  const after = await readdir(join(site.workspace, 'imports'))
  t.true(after.every(name => before.has(name)))
})
