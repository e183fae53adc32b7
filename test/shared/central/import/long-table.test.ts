import test from 'ava'
import { formatInstant } from '#shared/core/time.ts'
import { checkOf, importer } from '../../../support/packages/importer.ts'
import { airHandler } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { ownBuilding, preflight, execute, history } = importer(() => site)

const package_ = (lines: string[], building_id: string) =>
  airHandler(lines.map(line => `${line}\r\n`).join(''), {
    manifest: { building_id, timezone: 'UTC' },
    map: { points: { sa_t: 'AHU-1 SAT', ra_t: 'AHU-1 RAT' }, units: {} },
  })

test('a table with one value a row is imported with a column for each name, point after point or time after time', async t => {
  const times = ['01.03.2026 00:00', '01.03.2026 00:15', '01.03.2026 00:30']
  const line = (name: string, first: number, unit: string) => (at: string, i: number) =>
    `${at};"${name}";${first + i},5;${unit};ok`
  const sat = times.map(line('AHU-1 SAT', 15, '°C'))
  const rat = times.slice(0, 2).map(line('AHU-1 RAT', 70, '°F'))
  for (const [order, rows] of [
    ['point after point', [...sat, ...rat]],
    ['time after time', [...sat, ...rat].toSorted()],
  ] as const) {
    const { building_id } = ownBuilding()
    const seen = await preflight(package_(['Zeit;Datenpunkt;Wert;Einheit;Status', ...rows], building_id))
    t.like(seen.body, { can_execute: true, rows_in: 3, rows_rejected: 0 }, `${order}: ${seen.text}`)
    t.regex(checkOf(seen.body.checks, 'long_table')!.message, /turned into 2 columns/)
    t.deepEqual(checkOf(seen.body.checks, 'columns_left_out')!.examples, ['Status'])
    t.like((await execute(seen.body.session_id)).body, { ok: true, rows_written: 3 })
    const { ts, values } = await history(building_id, 'AHU-1.AHU-1_SAT')
    t.deepEqual([...values], [15.5, 16.5, 17.5])
    t.is(formatInstant(ts[0]!), '2026-03-01T00:00:00Z')
    t.deepEqual([...(await history(building_id, 'AHU-1.AHU-1_RAT')).values], [70.5, 71.5])
  }
})

test('of a name that has two values at one time the last one counts, and a row whose time cannot be read is rejected', async t => {
  const { building_id } = ownBuilding()
  const rows = Array.from({ length: 60 }, (_, i) => `2026-03-01T00:${String(i).padStart(2, '0')}:00Z,AHU-1 SAT,${i}`)
  const lines = [
    'Time,Name,Value',
    ...rows,
    '2026-03-01T00:59:00Z,AHU-1 SAT,7',
    'never,AHU-1 SAT,8',
    '2026-03-01T01:00:00Z,"AHU-1, RAT",-2',
  ]
  const seen = await preflight(package_(lines, building_id))
  t.like(seen.body, { can_execute: true, rows_in: 62, rows_rejected: 1 }, seen.text)
  t.like((await execute(seen.body.session_id)).body, { ok: true, rows_written: 61 })
  t.is((await history(building_id, 'AHU-1.AHU-1_SAT')).values.at(-1), 7)
  t.deepEqual([...(await history(building_id, 'AHU-1.AHU-1_RAT')).values], [-2])
})

test('a table that would be mostly blank, because each value has a name and a time of its own, is refused by name', async t => {
  const at = (i: number) => new Date(Date.UTC(2026, 2, 1) + i * 1000).toISOString()
  const lines = ['Time,Name,Value', ...Array.from({ length: 14_200 }, (_, i) => `${at(i)},P${i}x,${Math.sin(i)}`)]
  const { status, body } = await preflight(package_(lines, 'own-blank'))
  t.is(status, 413)
  t.regex(body.detail, /would have more than 200000000 cells/)
})

test('a table with one value a row and more values than are held is refused by name', async t => {
  const lines = [
    'Time,Name,Value',
    ...Array.from({ length: 1_000_001 }, (_, i) => `2026-03-01T00:00:00Z,P${i % 100}x,${Math.sin(i)}`),
  ]
  const { status, body } = await preflight(package_(lines, 'own-large'))
  t.is(status, 413)
  t.regex(body.detail, /AHU-1\/history_wide\.csv has one value a row and more than 1000000 of them/)
})
