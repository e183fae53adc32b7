import test from 'ava'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { importer } from '../../../support/packages/importer.ts'
import { airHandler, folderForm, MANIFEST, MAP, rows, table, zipForm, zipOf } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { ownBuilding, execute, imported, history } = importer(() => site)

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
    /leaves the package/,
  ],
  ['an absolute path', () => zipOf({ ...GOOD, 'aa/x.csv': 'x' }, { 'aa/x.csv': '/etc/x.c' }), /absolute path/],
  ['names that differ in case', () => zipOf({ ...GOOD, 'ahu-1/history_wide.csv': 'x' }), /differ only in case/],
  ['a link', () => zipOf(GOOD, {}, 0o120_777), /is a link/],
  ['a bomb', () => zipOf({ ...GOOD, 'AHU-1/bomb.csv': Buffer.alloc(50_000_000) }), /unpacks to more than 100 times its size/],
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
  t.regex((await site.call('operator', 'POST', '/api/csv/import/preflight', folder)).body.detail, /leaves the package/)
})

test.serial('what an upload leaves behind is its session alone', async t => {
  const before = new Set(await readdir(join(site.workspace, 'imports')))
  await site.call('operator', 'POST', '/api/csv/import/preflight', zipForm(Buffer.from('PK\u0003\u0004broken')))
  const after = await readdir(join(site.workspace, 'imports'))
  t.true(after.every(name => before.has(name)))
})
