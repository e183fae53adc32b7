/** One name for a command and a speed: the values decide. */
import test from 'ava'
import { importer } from '../../../support/packages/importer.ts'
import { airHandler, table } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { ownBuilding, preflight, execute, history } = importer(() => site)

const fan = (values: string[], map: object = {}, manifest: object = {}) =>
  airHandler(
    table(
      values.map((value, i) => `2026-03-01T00:${String(i * 5).padStart(2, '0')}:00Z,${value}`),
      'timestamp_utc,SF',
    ),
    { manifest, map: { points: { 'fan-cmd': 'SF' }, units: {}, ...map } },
  )
const PERCENT = { units: { SF: 'percent' } }
const SHARE = { units: { SF: '0-1' } }

for (const [what, values, map, role, unit, kept] of [
  ['0 and 1 without a unit', ['0', '1', '1'], {}, 'fan_cmd', 'bool', [0, 1, 1]],
  ['0 and 1 of a share', ['0', '1', '1'], SHARE, 'fan_cmd', 'bool', [0, 1, 1]],
  ['Off and On', ['Off', 'On', 'On'], {}, 'fan_cmd', 'bool', [0, 1, 1]],
  ['shares between 0 and 1', ['0', '0.62', '1'], SHARE, 'fan_speed', 'fraction', [0, 0.62, 1]],
  ['shares without a unit', ['0', '0.62', '1'], {}, 'fan_speed', 'fraction', [0, 0.62, 1]],
  ['percents', ['0', '62', '100'], PERCENT, 'fan_speed', 'percent', [0, 62, 100]],
  ['0 and 100 percent', ['0', '100', '100'], PERCENT, 'fan_speed', 'percent', [0, 100, 100]],
] as const) {
  test(`fan-cmd with ${what} is ${role} in ${unit}`, async t => {
    const manifest = ownBuilding()
    const { body } = await preflight(fan([...values], map, manifest))
    t.like(body.equipment[0].columns[0], { header: 'SF', role, unit, status: 'mapped' }, JSON.stringify(body.checks))
    t.is(body.can_execute, true)
    t.is((await execute(body.session_id)).status, 200)
    t.deepEqual([...(await history(manifest.building_id, 'AHU-1.SF')).values], [...kept])
    const [point] = site.central.context.model.points(manifest.building_id)
    t.like(point, { role, unit })
  })
}

test('beside a column of its own for the speed, fan-cmd stays the command', async t => {
  const lines = ['00:00:00Z,0,0', '00:05:00Z,0.5,50'].map(line => `2026-03-01T${line}`)
  const map = { points: { 'fan-cmd': 'SF', fan_speed: 'SP' }, units: { SP: 'percent' } }
  const { body } = await preflight(airHandler(table(lines, 'timestamp_utc,SF,SP'), { manifest: ownBuilding(), map }))
  t.deepEqual(
    body.equipment[0].columns.map((column: { role: string }) => column.role),
    ['fan_cmd', 'fan_speed'],
  )
})

test('a fan that has only been on or off becomes a speed with the first package that shows one, and its history stays', async t => {
  const manifest = ownBuilding()
  const { body: first } = await preflight(fan(['0', '1'], SHARE, manifest))
  await execute(first.session_id)
  const later = airHandler(table(['2026-03-02T00:00:00Z,62'], 'timestamp_utc,SF'), {
    manifest,
    map: { points: { 'fan-cmd': 'SF' }, ...PERCENT },
  })
  const { body } = await preflight(later)
  t.like(body.equipment[0].columns[0], { role: 'fan_speed', status: 'mapped' }, JSON.stringify(body.checks))
  t.is((await execute(body.session_id)).status, 200)
  t.like(site.central.context.model.points(manifest.building_id)[0], { role: 'fan_speed', unit: 'fraction' })
  t.deepEqual([...(await history(manifest.building_id, 'AHU-1.SF')).values], [0, 1, 0.62])
  const { body: again } = await preflight(fan(['0', '1'], SHARE, manifest))
  t.is(again.equipment[0].columns[0].role, 'fan_speed', 'on and off alone are a speed too, once it was one')
})

test('a share without a unit that is larger than one is refused and not taken for percent', async t => {
  const { body } = await preflight(fan(['0', '62', '100'], {}, ownBuilding()))
  t.is(body.can_execute, false)
  t.true(body.checks.some(({ code }: { code: string }) => code === 'unit_implausible'))
})
