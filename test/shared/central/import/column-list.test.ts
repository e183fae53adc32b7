/** `columns.csv` beside a table: names, roles and units of its columns, and never a table of its own. */
import test from 'ava'
import { checkOf, importer } from '../../../support/packages/importer.ts'
import { airHandler, type Files, rows, table } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { ownBuilding, preflight, imported } = importer(() => site)

const HEADER = 'column,point_role,point_name,units'
const withList = (list: string[], map: object = {}, manifest: object = ownBuilding()): Files => ({
  ...airHandler(table(rows(12)), { manifest, map: { points: { fan_status: 'Fan' }, units: {}, ...map } }),
  'AHU-1/columns.csv': [...list, ''].join('\n'),
})

test('columns.csv gives names, roles and units where the map says nothing, and is no table', async t => {
  const manifest = ownBuilding()
  const list = [HEADER, 'SAT,discharge-air-temp,Supply air,F', 'OAT,oat,Outdoor air,°F', 'Fan,,Supply fan,0-1']
  const files = withList(list, {}, manifest)
  const { body } = await preflight(files)
  t.deepEqual([body.verdict, body.checks, body.rows_in], ['pass', [], 12])
  t.deepEqual(body.equipment[0].columns, [
    { header: 'SAT', role: 'sa_t', unit: 'degF', status: 'mapped' },
    { header: 'OAT', role: 'oa_t', unit: 'degF', status: 'mapped' },
    { header: 'Fan', role: 'fan_status', unit: 'bool', status: 'mapped' },
  ])
  await imported(files)
  t.deepEqual(
    site.central.context.model.points(manifest.building_id).map(({ name, source }) => [source.address, name]),
    [
      ['Fan', 'Supply fan'],
      ['OAT', 'Outdoor air'],
      ['SAT', 'Supply air'],
    ],
  )
})

test('the map counts before columns.csv', async t => {
  const map = { points: { sa_t: 'SAT', oa_t: 'OAT', fan_status: 'Fan' }, units: { SAT: 'degC' } }
  const { body } = await preflight(withList([HEADER, 'SAT,mixed-air-temp,,degF', 'OAT,what-it-is,,degF'], map))
  t.like(body.equipment[0].columns[0], { role: 'sa_t', unit: 'degC' })
  t.is(checkOf(body.checks, 'columns_invalid'), undefined, 'a role that is not asked for does no harm')
})

for (const [what, list, severity, example] of [
  ['a unit that is not known', ['SAT,sat,,furlong'], 'error', /^line 2: SAT has the unit "furlong"/],
  ['too few cells', ['OAT,oat,Outdoor,degF', 'SAT,sat'], 'error', /^line 3: 2 cells instead of 4/],
  ['no column', ['OAT,oat,,degF', ',sat,,degF'], 'error', /^line 3: has no column name/],
  ['a column again', ['SAT,sat,,degF', 'SAT,mat,,degF'], 'error', /^line 3: SAT is already on line 2/],
  [
    'a role that is none',
    ['SAT,dischrge-ar,,degF'],
    'warning',
    /^line 2: SAT has the role "dischrge-ar", which is unknown; did you mean /,
  ],
] as const) {
  test(`a row of columns.csv with ${what} is named as ${severity}`, async t => {
    const { body } = await preflight(withList([HEADER, ...list]))
    const check = checkOf(body.checks, 'columns_invalid')!
    t.is(check.severity, severity)
    t.regex(check.examples[0]!, example)
    t.is(body.can_execute, severity !== 'error')
    t.is(body.rows_in, 12)
  })
}

test('columns.csv without a header of its own is refused, and so is one that is no text', async t => {
  const { body } = await preflight(withList(['SAT,sat,,degF']))
  t.regex(checkOf(body.checks, 'columns_invalid')!.examples[0]!, /^line 1: no column is called column/)
  const { body: binary } = await preflight(withList([`${HEADER}\0`]))
  t.regex(checkOf(binary.checks, 'columns_invalid')!.message, /is empty or no text/)
})

test('a column of columns.csv that is in no table is named with its line', async t => {
  const { body } = await preflight(withList([HEADER, 'timestamp_utc,,,', 'SAT,sat,,degF', 'RAT,rat,,degF']))
  t.deepEqual(checkOf(body.checks, 'column_missing')!.examples, ['line 4: RAT'])
})

test('columns.csv gives the units of a weather table, which has no map', async t => {
  const files = {
    ...airHandler(table(rows(12)), { manifest: ownBuilding() }),
    'weather/history_wide.csv': table(['2026-03-01T06:00:00Z,40,60'], 'timestamp_utc,web_oa_t,RH'),
    'weather/columns.csv': [HEADER, 'web_oa_t,,,F', 'RH,web-outside-air-humidity,,%', ''].join('\n'),
  }
  const { body } = await preflight(files)
  const weather = body.equipment.find((each: { equipment_id: string }) => each.equipment_id === 'weather')
  t.deepEqual(weather.columns, [
    { header: 'web_oa_t', role: 'wx_oa_t', unit: 'degF', status: 'mapped' },
    { header: 'RH', role: 'wx_oa_rh', unit: 'percent', status: 'mapped' },
  ])
})
