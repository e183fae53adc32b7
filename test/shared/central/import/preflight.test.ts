import test from 'ava'
import { checkOf, importer, type Seen } from '../../../support/packages/importer.ts'
import { airHandler, rows, table } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { ownBuilding, preflight, execute, imported, history } = importer(() => site)

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
  ...['1970-01-01', '1999-12-31', '2100-01-01'].map(
    day => [`the day ${day}`, local([`${day} 00:30,60`, '2026-03-08 00:30,60']), {}, 'timestamp_misdated', 'warning', 1] as const,
  ),
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
  [
    'more columns than are taken',
    `timestamp_utc${',c'.repeat(100_000)}\n2026-03-01T00:00:00Z${',1'.repeat(100_000)}\n`,
    {},
    'columns_too_many',
    'error',
    1,
  ],
  ['a header without end', `timestamp_utc,a${' '.repeat(60_000)}b\n2026-03-01T00:00:00Z,1\n`, {}, 'header_too_long', 'error', 1],
  [
    'a map of thousands of names that are no role',
    table(rows(2)),
    { map: { points: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`zz${i}`, `c${i}`])) } },
    'column_unmapped',
    'warning',
    20_000,
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

for (const [what, csv, message] of [
  ['is empty', '', 'is empty'],
  ['holds bytes that are no text', Buffer.from([0, 1, 2, 0, 0, 3]), 'is not a text file'],
] as const) {
  test(`of a table that ${what} nothing else is said`, async t => {
    const { body } = await preflight(airHandler(csv, { manifest: ownBuilding() }))
    const said = body.checks.map((check: Seen) => check.message).filter((text: string) => text.includes('.csv: '))
    t.deepEqual(said, [`AHU-1/history_wide.csv: ${message}`])
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
    ['warning AHU-1/empty.csv: is empty', 'warning AHU-1/header.csv: has a header and no rows'],
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
  ['a Windows line end in the header only', table(rows(2)).replace('\n', '\r\n'), {}],
  ['line ends of three systems', `${table([rows(2)[0]!]).replace('\n', '\r')}${rows(2)[1]}\r\n`, {}],
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
