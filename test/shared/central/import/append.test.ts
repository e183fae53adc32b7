import test from 'ava'
import { createAddition } from '#shared/central/import/addition.ts'
import type { Historian } from '#shared/core/ports.ts'
import { DAY, formatInstant } from '#shared/core/time.ts'
import { checkOf, importer } from '../../../support/packages/importer.ts'
import { airHandler, rows, table } from '../../../support/packages/packages.ts'
import { type Answer, startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { ownBuilding, preflight, execute, imported, history } = importer(() => site)

const append = (building_id: string, csv: string): Promise<Answer> =>
  site.call('operator', 'POST', '/api/csv/import/package/append', { confirm: true, building_id, equipment_id: 'AHU-1', csv })
const pointOf = (building_id: string, id: string) =>
  site.central.context.model.points(building_id).find(({ point_id }) => point_id === id)
const at = (minute: number) => `2026-03-01T00:${String(minute).padStart(2, '0')}:00Z`
const column = (header: string, cells: string[], from = 0) =>
  table(
    cells.map((cell, i) => `${at(from + i)},${cell}`),
    `timestamp_utc,${header}`,
  )

test('a chunk of more cells than are held is refused with the bound, and the one after it goes in', async t => {
  const { building_id } = ownBuilding()
  await imported(airHandler(table(rows(2)), { manifest: { building_id } }))
  const huge = `timestamp_utc,SAT\n${`${at(1)},60\n`.repeat(500_001)}`
  const [refused, added] = await Promise.all([append(building_id, huge), append(building_id, table(rows(3)))])
  t.deepEqual([refused.status, refused.body.code], [413, 'too_large'])
  t.regex(refused.body.detail, /more than 1000000 cells, from line 500001 on; .*package/)
  t.like(added.body, { rows_in: 3, rows_added: 1, rows_duplicate: 2 })
})

test('rows of a chunk with an impossible time are left out and named, and history does not reach to them', async t => {
  const { building_id } = ownBuilding()
  await imported(airHandler(table(rows(2)), { manifest: { building_id } }))
  const ahead = new Date(Date.now() + DAY).toISOString()
  const lines = [`1970-01-01T00:00:30Z,60`, `${at(30)},61`, `${ahead},62`, '9999-12-31T23:59:59Z,63']
  const { body, text } = await append(building_id, table(lines, 'timestamp_utc,SAT'))
  t.like(body, { rows_in: 4, rows_added: 1, rows_rejected: 3, ts_min: at(30), ts_max: at(30) }, text)
  t.deepEqual(checkOf(body.checks, 'timestamp_misdated')?.examples, ['line 2: 1970-01-01T00:00:30Z', `line 4: ${ahead}`])
  const alone = await append(building_id, table(['1970-01-01T00:00:30Z,60'], 'timestamp_utc,SAT'))
  t.like(alone.body, { status: 422, code: 'package_invalid' })
  t.like(alone.body.errors[0], { row: 2 })
  for (const { first, last } of await site.central.historian.spans(building_id)) {
    t.true(first >= Date.UTC(2026, 2, 1) && last < Date.UTC(2026, 2, 2))
  }
})

test('a chunk of many columns and blocks is added whole and once, whatever the order of its rows', async t => {
  const { building_id } = ownBuilding()
  const names = Array.from({ length: 30 }, (_, i) => `c${i}`)
  const row = (i: number) => `${new Date(1.6e12 + i * 1000).toISOString()},${names.map((_, n) => n + i).join(',')}`
  const header = `timestamp_utc,${names.join(',')}`
  await imported(airHandler(table([row(0)], header), { manifest: { building_id }, map: { points: {}, units: {} } }))
  const lines = Array.from({ length: 20_001 }, (_, i) => row(i)).toReversed()
  const [first, again] = [await append(building_id, table(lines, header)), await append(building_id, table(lines, header))]
  t.like(first.body, { rows_in: 20_001, rows_added: 20_000, rows_duplicate: 1, ts_min: '2020-09-13T12:26:40Z' }, first.text)
  t.like(again.body, { rows_in: 20_001, rows_added: 0, rows_duplicate: 20_001 })
  for (const name of ['c0', 'c29']) {
    const { ts, values } = await history(building_id, `AHU-1.${name}`)
    const n = names.indexOf(name)
    t.deepEqual([ts.length, values[0], values[20_000]], [20_001, n, n + 20_000])
  }
})

test('rows of a package that have one instant count once, wherever they stand', async t => {
  const { building_id } = ownBuilding()
  const lines = Array.from({ length: 20 }, (_, i) => `${at(i % 4)},${60 + i}`)
  const { body } = await preflight(airHandler(table(lines, 'timestamp_utc,SAT'), { manifest: { building_id } }))
  t.is(checkOf(body.checks, 'timestamp_duplicate')?.count, 16)
  const done = await execute(body.session_id)
  t.like(done.body, { rows_in: 20, rows_written: 4, rows_duplicate: 16, samples_written: 4 })
  t.deepEqual([...(await history(building_id, 'AHU-1.SAT')).values], [76, 77, 78, 79])
})

test('a row of a clock gone wrong is added like any other, and what lies between is not fetched for it', async t => {
  const { building_id } = ownBuilding()
  await imported(airHandler(column('SAT', ['60', '61']), { manifest: { building_id } }))
  const { historian } = site.central.context
  const asked: number[] = []
  const counting: Historian = {
    ...historian,
    read: query => {
      asked.push(query.to - query.from)
      return historian.read(query)
    },
  }
  const addition = createAddition(building_id, counting)
  const ts = Float64Array.of(Date.UTC(2000, 0, 1), Date.parse(at(0)), Date.parse(at(5)))
  await addition.add([{ point_id: 'AHU-1.SAT', series: { ts, values: Float64Array.of(1, 60, 62) } }])
  t.deepEqual(addition.end(), { first: ts[0]!, last: ts[2]!, instants: 2 })
  t.deepEqual([...(await history(building_id, 'AHU-1.SAT')).values], [1, 60, 61, 62])
  t.true(Math.max(...asked) < 31 * DAY)
})

test('states that chunks bring are added to the point, and none takes the number of another', async t => {
  const { building_id } = ownBuilding()
  const map = { points: {}, units: {} }
  await imported(airHandler(column('Mode', ['Auto', 'Hand', 'Off']), { manifest: { building_id }, map }))
  for (const [text, from] of [
    ['Purge', 3],
    ['Wash', 4],
    ['purge', 5],
  ] as const) {
    t.is((await append(building_id, column('Mode', [text], from))).status, 200)
  }
  t.like(pointOf(building_id, 'AHU-1.Mode'), { kind: 'enum', states: ['Auto', 'Hand', 'Off', 'Purge', 'Wash'] })
  t.deepEqual([...(await history(building_id, 'AHU-1.Mode')).values], [0, 1, 2, 3, 4, 3])
})

test('a chunk of texts leaves a column of numbers without a value, and says where', async t => {
  const { building_id } = ownBuilding()
  await imported(airHandler(column('SAT', ['60']), { manifest: { building_id } }))
  for (const [cells, from, wanted] of [
    [['Offline'], 1, 'SAT, line 2: Offline'],
    [['61', 'Offline', 'Comm Fail'], 2, 'SAT, line 3: Offline'],
    [['1e400'], 5, 'SAT, line 2: 1e400'],
  ] as const) {
    const { status, body } = await append(building_id, column('SAT', [...cells], from))
    t.is(status, 200)
    t.like(body.checks[0], { code: 'value_unreadable', severity: 'warning' })
    t.is(body.checks[0].examples[0], wanted)
  }
  t.deepEqual([...(await history(building_id, 'AHU-1.SAT')).values], [60, Number.NaN, 61, Number.NaN, Number.NaN, Number.NaN])
  t.is(pointOf(building_id, 'AHU-1.SAT')!.states, undefined)
})

for (const [what, csv, wanted] of [
  ['no readable time', 'timestamp_utc,SAT\nfoo,1\n', { row: 2, message: /timestamps cannot be read.*: foo$/, hint: /ISO 8601/ }],
  [
    'an open quote',
    'timestamp_utc,SAT\n2026-03-01T00:00:00Z,"1\n',
    { row: 2, message: /cannot be read as CSV.*[Qq]uote/, hint: /quotes/ },
  ],
  [
    'a last row cut off',
    'timestamp_utc,SAT\n2026-03-01T00:00:00Z\n',
    { row: 2, message: /is cut off: 1 of 2 cells/, hint: /cut off/ },
  ],
  [
    'a header twice',
    'timestamp_utc,SAT,SAT\n2026-03-01T00:00:00Z,1,2\n',
    { message: /headers occur more than once: SAT/, hint: /header/ },
  ],
] as const) {
  test(`a chunk with ${what} is refused with its place`, async t => {
    const { building_id } = ownBuilding()
    await imported(airHandler(table(rows(2)), { manifest: { building_id } }))
    const { status, body } = await append(building_id, csv)
    t.deepEqual([status, body.code], [422, 'package_invalid'], JSON.stringify(body))
    const error = body.errors.find(({ message }: { message: string }) => wanted.message.test(message))
    t.is(error?.row, 'row' in wanted ? wanted.row : undefined, JSON.stringify(body.errors))
    t.regex(error.hint, wanted.hint)
  })
}

for (const [what, cells, severity, values] of [
  [
    'a sensor that is away at times',
    ['60', 'Offline', 'Offline', '61', 'Comm Fail'],
    'warning',
    [60, Number.NaN, Number.NaN, 61, Number.NaN],
  ],
  ['more texts than numbers', ['60', 'Offline', '\ufffd'], 'warning', [60, Number.NaN, Number.NaN]],
  ['what may be thousands or decimals', ['"1,250"', '"1,300"'], 'error', []],
  ['nothing but a text', ['Offline'], 'error', []],
  ['numbers without end', ['1e400', '-1e400'], 'error', []],
] as const) {
  test(`a package with ${what} in a column of temperatures has no states of it`, async t => {
    const { building_id } = ownBuilding()
    const { body } = await preflight(airHandler(column('SAT', [...cells]), { manifest: { building_id } }))
    const check = checkOf(body.checks, 'value_unreadable')
    t.like(check, { severity, count: cells.filter(cell => !(Math.abs(Number(cell)) < 1e9)).length })
    t.regex(check!.examples[0]!, /^SAT, line \d+: /)
    t.is((await execute(body.session_id)).status, severity === 'error' ? 422 : 200)
    t.deepEqual([...(await history(building_id, 'AHU-1.SAT')).values], [...values])
  })
}

test('an export with units in its cells and days as Excel counts them is read, and so is a chunk like it', async t => {
  const { building_id } = ownBuilding()
  const exported = (lines: string[]) => `Zeit;SAT;Klappe\r\n${lines.map(line => `${line}\r\n`).join('')}`
  const first = exported(['46082;15,5 °C;20 %', '46082,0104166667;70,0 °F;25 %', '46082,0208333333;16,5 °C;30 %'])
  const seen = await preflight(
    airHandler(first, { manifest: { building_id, timezone: 'UTC' }, map: { points: { sa_t: 'SAT' } } }),
  )
  // Two units in the first rows leave a column without one.
  t.deepEqual(checkOf(seen.body.checks, 'unit_from_cells')!.message, 'AHU-1/history_wide.csv: has units in its cells: percent')
  const same = exported(['46082;15,5 °C;20 %', '46082,0104166667;16,0 °C;25 %', '46082,0208333333;16,5 °C;30 %'])
  const read = await preflight(
    airHandler(same, { manifest: { building_id, timezone: 'UTC' }, map: { points: { sa_t: 'SAT' }, units: {} } }),
  )
  t.like(read.body, { can_execute: true, rows_in: 3, rows_rejected: 0 }, read.text)
  t.like((await execute(read.body.session_id)).body, { ok: true, rows_written: 3 })
  t.like((await append(building_id, exported(['46082,03125;17,0 °C;35 %']))).body, { rows_in: 1, rows_added: 1 })
  const { ts, values } = await history(building_id, 'AHU-1.SAT')
  t.deepEqual([...values], [15.5, 16, 16.5, 17])
  t.deepEqual([...ts].map(formatInstant).at(-1), '2026-03-01T00:45:00Z')
  t.deepEqual([...(await history(building_id, 'AHU-1.Klappe')).values], [20, 25, 30, 35])
})

test('an export with lines before its header is read from the header on, and so is a chunk like it', async t => {
  const { building_id } = ownBuilding()
  const exported = (lines: string[]) => `sep=;\r\nTrend report;\r\n\r\nZeit;SAT\r\n${lines.map(line => `${line}\r\n`).join('')}`
  const first = exported(['01.03.2026 00:00;15,5', 'Summe;x', '01.03.2026 00:15;1.015,5'])
  const seen = await preflight(
    airHandler(first, { manifest: { building_id, timezone: 'UTC' }, map: { points: { sa_t: 'SAT' }, units: { SAT: 'degC' } } }),
  )
  t.like(seen.body, { can_execute: true, rows_in: 3, rows_rejected: 1 }, seen.text)
  t.regex(checkOf(seen.body.checks, 'delimiter_guessed')!.message, /";" between cells and decimal commas/)
  t.regex(checkOf(seen.body.checks, 'header_found')!.message, /header on line 4/)
  const rejects = await site.call('operator', 'GET', `/api/csv/import/preflight/${seen.body.session_id}/rejects.csv`)
  t.regex(rejects.text, /^AHU-1\/history_wide\.csv,6,timestamp_unreadable,/m)
  const mapping = await site.call('operator', 'GET', `/api/csv/import/preflight/${seen.body.session_id}/mapping`)
  t.deepEqual(mapping.body.headers, ['Zeit', 'SAT'])
  t.like((await execute(seen.body.session_id)).body, { ok: true, rows_written: 2 })
  t.like((await append(building_id, exported(['01.03.2026 24:00;16,5']))).body, { rows_in: 1, rows_added: 1 })
  t.deepEqual([...(await history(building_id, 'AHU-1.SAT')).values], [15.5, 1015.5, 16.5])
})
