/** An agent whose request about packages is refused is told what to do, with an example that works. */
import test from 'ava'
import { CHECKS } from '#shared/core/csv/checks.ts'
import { importer } from '../../../support/packages/importer.ts'
import { airHandler, folderForm, MANIFEST, rows, table, zipForm, zipOf } from '../../../support/packages/packages.ts'
import { type Answer, startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

type Hint = { code: string; action: string; example: string }
let site: TestCentral
test.before(async () => {
  site = await startCentral()
  await imported(airHandler(table(rows(2)), { manifest: { building_id: 'known' } }))
  const noMap = { points: {}, equip: 'AHU-2' }
  await imported(airHandler(table(rows(2)), { manifest: { building_id: 'unmapped' }, map: noMap }))
})
test.after.always(() => site?.close())
const { preflight, execute, imported } = importer(() => site)

const APPEND = '/api/csv/import/package/append'
const hintsOf = (answer: Answer): Hint[] => answer.body.agent_hints ?? []
const post = (path: string, body: unknown, type?: string) =>
  site.call('operator', 'POST', path, body, type === undefined ? {} : { 'content-type': type })
const append = (more: object) => post(APPEND, { confirm: true, building_id: 'known', equipment_id: 'AHU-1', csv: 'x', ...more })
const upload = (body: string) => post('/api/csv/import/preflight', body, 'multipart/form-data; boundary=X')
const zip = async (files: Record<string, string>, rename = {}) =>
  post('/api/csv/import/preflight', zipForm(await zipOf(files, rename)))

const REFUSED: [what: string, code: string, ask: () => Promise<Answer>][] = [
  ['preflight of JSON', 'unsupported_media_type', () => post('/api/csv/import/preflight', {})],
  ['preflight of a form that is cut off', 'bad_request', () => upload('--X\r\n')],
  ['preflight without a file', 'bad_request', () => upload('--X--\r\n')],
  ['preflight of a path that leads out', 'package_invalid', () => zip({ 'aa/b.csv': 'x' }, { 'aa/b.csv': '../b.csv' })],
  [
    'preflight of a ZIP that is cut off',
    'package_invalid',
    () => post('/api/csv/import/preflight', zipForm(Buffer.from('PK\u0003\u0004x'))),
  ],
  [
    'preflight with an unknown field',
    'bad_request',
    () =>
      upload(
        '--X\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n\r\na\r\n--X\r\nContent-Disposition: form-data; name="b"\r\n\r\na\r\n--X--\r\n',
      ),
  ],
  ['execute without confirm', 'confirm_required', () => execute('x', { confirm: false })],
  ['execute of an unknown session', 'unknown_session', () => execute('00000000-0000-4000-8000-000000000000')],
  ['execute with an unknown field', 'bad_request', () => execute('x', { force: true })],
  [
    'execute of a package that fails',
    'manifest_missing',
    async () => execute((await preflight({ 'a/history_wide.csv': 'x' })).body.session_id),
  ],
  ['append of a ZIP', 'append_takes_json', () => post(APPEND, 'PK', 'application/zip')],
  ['append without confirm', 'confirm_required', () => append({ confirm: false })],
  ['append without csv', 'bad_request', () => append({ csv: undefined })],
  ['append of half a JSON text', 'bad_request', () => post(APPEND, '{"confirm":tr', 'application/json')],
  ['append to an unknown building', 'unknown_building', () => append({ building_id: 'nowhere' })],
  ['append to unknown equipment', 'unknown_equipment', () => append({ equipment_id: 'nothing' })],
  ['append of nothing', 'package_invalid', () => append({ csv: '' })],
  ['append of rows without a readable time', 'timestamp_unreadable', () => append({ csv: 'timestamp_utc,SAT\nnever,1\n' })],
  ['append of a column that is new', 'package_invalid', () => append({ csv: 'timestamp_utc,New\n2026-03-01T05:00:00Z,1\n' })],
  [
    'the mapping of an unknown building',
    'unknown_building',
    () => site.call('viewer', 'GET', '/api/csv/import/package/mapping?building_id=nowhere'),
  ],
  [
    'a mapping that is empty',
    'mapping_empty',
    () => site.call('viewer', 'GET', '/api/csv/import/package/mapping?building_id=unmapped'),
  ],
  ['a mapping of nothing', 'bad_request', () => site.call('viewer', 'GET', '/api/csv/import/package/mapping')],
]
for (const [what, code, ask] of REFUSED) {
  test(`${what} is answered with a hint of ${code}`, async t => {
    const answer = await ask()
    t.true(answer.status >= 400 && answer.status < 500, answer.text)
    t.true(
      hintsOf(answer).some(hint => hint.code === code),
      answer.text,
    )
    for (const hint of hintsOf(answer)) t.true(hint.action.length > 0 && hint.example.length > 0, JSON.stringify(hint))
  })
}

test('who may not ask gets no hint', async t => {
  const { status, body } = await site.call('viewer', 'POST', APPEND, {})
  t.is(status, 403)
  t.is(body.agent_hints, undefined)
})

test('every check has an example, and those that are JSON can be read', t => {
  for (const [code, { example }] of Object.entries(CHECKS)) {
    t.not(example, '', code)
    if (/^[{"]/.test(example)) t.notThrows(() => JSON.parse(example.startsWith('{') ? example : `{${example}}`), code)
  }
})

for (const [manifest, map] of [
  ['manifest_missing', 'column_map_missing'],
  ['manifest_invalid', 'column_map_invalid'],
] as const) {
  test(`a package of the examples of ${manifest} and ${map} is imported, and the examples of the requests go on from there`, async t => {
    const files = {
      'manifest.json': CHECKS[manifest].example,
      'AHU-1/column_map.json': CHECKS[map].example,
      'AHU-1/history_wide.csv': CHECKS.no_rows.example,
    }
    const { body } = await post('/api/csv/import/preflight', folderForm(files))
    t.like(body, { verdict: 'pass', can_execute: true, agent_hints: [] }, JSON.stringify(body))
    const [toExecute] = hintsOf(await execute('x', { confirm: false }))
    const asked = { ...JSON.parse(toExecute!.example), session_id: body.session_id }
    t.is((await post('/api/csv/import/execute', asked)).status, 200)
    const [toAppend] = hintsOf(await append({ confirm: false }))
    const appended = await post(APPEND, JSON.parse(toAppend!.example))
    t.is(appended.status, 200, appended.text)
    const [toMap] = hintsOf(await site.call('viewer', 'GET', '/api/csv/import/package/mapping'))
    t.is((await site.call('viewer', 'GET', toMap!.example.replace('GET ', ''))).status, 200)
    t.is(MANIFEST.schema_version, JSON.parse(files['manifest.json']).schema_version)
  })
}
