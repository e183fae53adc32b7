import test from 'ava'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Building, Point } from '#shared/core/model/model.ts'
import { importer } from '../../../support/packages/importer.ts'
import { airHandler, rows, table } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { ownBuilding, preflight, execute, imported, history } = importer(() => site)

const modes = (...names: string[]) =>
  table(
    names.map((name, i) => `2026-03-01T0${i}:00:00Z,${name}`),
    'timestamp_utc,Mode',
  )

test('of two preflights of one new state column the second does not rename what the first has brought', async t => {
  const manifest = ownBuilding()
  const files = [modes('Auto', 'Hand', 'Off'), modes('Off', 'Purge', 'Wash')].map(csv =>
    airHandler(csv, { manifest, map: { points: {}, units: {} } }),
  )
  const [first, second] = [await preflight(files[0]!), await preflight(files[1]!)]
  t.is((await execute(first.body.session_id)).status, 200)
  const before = await history(manifest.building_id, 'AHU-1.Mode')
  const refused = await execute(second.body.session_id)
  t.deepEqual([refused.status, refused.body.code], [409, 'conflict'])
  t.regex(refused.body.detail, /states of point AHU-1\.Mode/)
  const [point] = site.central.context.model.points(manifest.building_id)
  t.deepEqual(point?.states, ['Auto', 'Hand', 'Off'])
  t.deepEqual(await history(manifest.building_id, 'AHU-1.Mode'), before)
})

type Change = { building?: Partial<Building>; point?: Partial<Point> }
const CHANGES: [string, Change, RegExp][] = [
  ['role assigned', { point: { role: 'ma_t' } }, /role of point AHU-1\.SAT/],
  ['point renamed', { point: { name: 'Discharge' } }, /name of point AHU-1\.SAT/],
  ['building renamed', { building: { name: 'Town hall' } }, /name of building/],
  ['time zone set', { building: { timezone: 'Europe/Berlin' } }, /time zone of building/],
]
for (const [what, change, said] of CHANGES) {
  test(`a ${what} after the preflight is not put back by its import`, async t => {
    const manifest = ownBuilding()
    const { building_id } = manifest
    const { model } = site.central.context
    await imported(airHandler(table(rows(2)), { manifest }))
    const files = airHandler(table(rows(4)), { manifest, map: { points: {} } })
    const { body } = await preflight(files)
    const building = { ...model.building(building_id)!, ...change.building }
    const point = { ...model.points(building_id).find(({ point_id }) => point_id === 'AHU-1.SAT')!, ...change.point }
    model.put({ building, points: [point] })
    const refused = await execute(body.session_id)
    t.is(refused.status, 409, refused.text)
    t.regex(refused.body.detail, said)
    t.deepEqual(model.building(building_id), building)
    t.is((await history(building_id, 'AHU-1.SAT')).ts.length, 2)
  })
}

test('two packages that say the same of a new building are imported one after the other', async t => {
  const manifest = ownBuilding()
  const files = [rows(2), rows(2, Date.UTC(2026, 3, 1))].map(lines => airHandler(table(lines), { manifest }))
  const [first, second] = [await preflight(files[0]!), await preflight(files[1]!)]
  t.is((await execute(first.body.session_id)).status, 200)
  t.is((await execute(second.body.session_id)).status, 200)
  t.is((await history(manifest.building_id, 'AHU-1.SAT')).ts.length, 4)
})

test('a model that changes while a package is being loaded leaves neither its history nor its model', async t => {
  const { building_id } = ownBuilding()
  const { historian } = site.central
  async function* some() {
    yield { point_id: 'p', series: { ts: Float64Array.of(1000), values: Float64Array.of(1) } }
  }
  const refused = () => {
    throw new Error('changed meanwhile')
  }
  await t.throwsAsync(historian.load(building_id, ['p'], 'replace', some(), refused), { message: 'changed meanwhile' })
  t.is((await history(building_id, 'p')).ts.length, 0)
  t.deepEqual(await historian.load(building_id, ['p'], 'replace', some()), { added: 1, duplicate: 0 })
})

test('a first import that fails leaves no building behind', async t => {
  const manifest = ownBuilding()
  const { body } = await preflight(airHandler(table(rows(2)), { manifest }))
  const folder = join(site.workspace, 'imports', body.session_id, 'files')
  for (const name of await readdir(folder)) await writeFile(join(folder, name), 'timestamp_utc,SAT,OAT,Fan\nnever,1,2,3\n')
  t.is((await execute(body.session_id)).status, 422)
  t.is(site.central.context.model.building(manifest.building_id), undefined)
})
