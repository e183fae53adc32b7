/** What preflight proposes for columns without a role: the same as the page of points, and never applied. */
import test from 'ava'
import { importer } from '../../../support/packages/importer.ts'
import { airHandler, table } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { ownBuilding, preflight, execute } = importer(() => site)

const rows = (...cells: string[]) => cells.map((cell, i) => `2026-03-01T00:${String(i * 5).padStart(2, '0')}:00Z,${cell}`)
const UNMAPPED = { points: {}, units: {} }
const proposed = (body: any): Record<string, string | undefined> =>
  Object.fromEntries(body.equipment[0].columns.map(({ header, suggestion }: any) => [header, suggestion]))

test('preflight suggests what the page of points suggests, says how sure it is, and applies nothing', async t => {
  const manifest = ownBuilding()
  const { building_id } = manifest
  const csv = table(rows('55,1,48,20', '56,0,49,60'), 'timestamp_utc,DA-T,SF-S,XQ-7,DPR-POS')
  const map = { points: {}, units: { 'DA-T': 'degF', 'XQ-7': 'degF', 'DPR-POS': 'percent' } }
  const { body } = await preflight(airHandler(csv, { manifest, map }))
  const [supply, fan, unknown] = body.equipment[0].columns
  t.like(supply, { role: null, status: 'unmapped', suggestion: 'sa_t' })
  t.true(supply.confidence >= 0.85 && supply.why.length > 0, JSON.stringify(supply))
  t.is(fan.suggestion, 'fan_status')
  t.is(unknown.suggestion, undefined)

  t.is((await execute(body.session_id)).status, 200)
  const points = site.central.context.model.points(building_id)
  t.deepEqual(
    points.map(({ role }) => role),
    [undefined, undefined, undefined, undefined],
  )
  const { body: later } = await site.call('viewer', 'GET', `/api/model/suggestions?building_id=${building_id}`)
  const onPage = later.points.map(({ name, suggestions: [first] }: any) => [name, first?.role])
  t.deepEqual(Object.fromEntries(onPage), proposed(body))
})

test('values decide where no unit is stated', async t => {
  const csv = table(
    rows('55,5000,1,0.2,1', '60,5100,0,0.3,1'),
    'timestamp_utc,SAT,Mixed Air Temp,Supply Fan,Cooling Valve,Heating Valve',
  )
  const { body } = await preflight(airHandler(csv, { manifest: ownBuilding(), map: UNMAPPED }))
  t.deepEqual(proposed(body), {
    SAT: 'sa_t',
    'Mixed Air Temp': undefined,
    'Supply Fan': 'fan_cmd',
    'Cooling Valve': 'clg_valve',
    'Heating Valve': 'htg_valve',
  })
})

test('a role that a column or a point of the equipment has already is not suggested again', async t => {
  const manifest = ownBuilding()
  const first = await preflight(
    airHandler(table(rows('55', '56'), 'timestamp_utc,Old SAT'), {
      manifest,
      map: { points: { sa_t: 'Old SAT' }, units: { 'Old SAT': 'degF' } },
    }),
  )
  t.is((await execute(first.body.session_id)).status, 200)
  const csv = table(rows('55,40', '56,41'), 'timestamp_utc,Supply Air Temp,OAT')
  const more = { points: { oa_t: 'OAT' }, units: { OAT: 'degF', 'Supply Air Temp': 'degF' } }
  const { body } = await preflight(airHandler(csv, { manifest, map: more }))
  t.deepEqual(proposed(body), { 'Supply Air Temp': undefined, OAT: undefined })
})

test('two columns of one equipment that look alike make each other doubtful, in two tables as well', async t => {
  const files = airHandler(table(rows('55', '56'), 'timestamp_utc,SAT'), { manifest: ownBuilding(), map: UNMAPPED })
  const { body } = await preflight({
    ...files,
    'AHU-1/more.csv': table(rows('55', '56'), 'timestamp_utc,Supply Air Temp'),
  })
  for (const { suggestion, confidence } of body.equipment[0].columns) {
    t.is(suggestion, 'sa_t')
    t.true(confidence < 0.6)
  }
})
