import test from 'ava'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ZipFile } from 'yazl'
import { importer } from '../../../support/packages/importer.ts'
import { airHandler, rows, table, zipForm } from '../../../support/packages/packages.ts'
import { startCentral, type TestCentral } from '../../../support/sites/central-site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { ownBuilding, preflight, execute } = importer(() => site)

test('a byte that was flipped in a stored entry of an archive is told by the checksum', async t => {
  const zip = new ZipFile()
  const files = airHandler(table(['2026-03-01T00:00:00Z,60,40,1']), { manifest: ownBuilding() })
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path, { compress: false })
  zip.end()
  const chunks: Buffer[] = []
  for await (const chunk of zip.outputStream) chunks.push(Buffer.from(chunk))
  const whole = Buffer.concat(chunks)
  const send = (bytes: Buffer) => site.call('operator', 'POST', '/api/csv/import/preflight', zipForm(bytes))
  t.is((await send(whole)).status, 200)
  whole[whole.indexOf(',60,40,1') + 1] = '9'.charCodeAt(0)
  const { status, body } = await send(whole)
  t.deepEqual([status, body.code], [422, 'package_invalid'])
  t.regex(body.detail, /AHU-1\/history_wide\.csv .*checksum/)
})

const FILE = '--X\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\n'
const FORMS: [string, string, string, number, RegExp][] = [
  ['no boundary', 'multipart/form-data', 'abc', 400, /Boundary not found/],
  ['no part', 'multipart/form-data; boundary=X', 'garbage', 400, /Unexpected end/],
  ['no end', 'multipart/form-data; boundary=X', `${FILE}\r\nabc`, 400, /end/],
  ['no end of a header', 'multipart/form-data; boundary=X', FILE, 400, /Unexpected end/],
  [
    'a file without a name',
    'multipart/form-data; boundary=X',
    '--X\r\nContent-Disposition: form-data; name="f"\r\nContent-Type: application/octet-stream\r\n\r\nab\r\n--X--\r\n',
    422,
    /not a plain path/,
  ],
  [
    'a field that is too long',
    'multipart/form-data; boundary=X',
    `--X\r\nContent-Disposition: form-data; name="column_map"\r\n\r\n${' '.repeat(1_048_577)}\r\n${FILE}\r\nab\r\n--X--\r\n`,
    413,
    /column_map is longer than 1048576 bytes/,
  ],
]
for (const [what, type, body, status, said] of FORMS) {
  test(`a form with ${what} is the caller's fault`, async t => {
    const answer = await site.call('operator', 'POST', '/api/csv/import/preflight', body, { 'content-type': type })
    t.is(answer.status, status, answer.text)
    t.regex(answer.body.detail, said)
  })
}

test('a field that comes as JSON is taken as its text', async t => {
  const manifest = { schema_version: 'svc_package_v1', ...ownBuilding(), timezone: 'UTC', grid_minutes: 5 }
  const body = [
    '--X\r\nContent-Disposition: form-data; name="manifest"\r\nContent-Type: application/json\r\n',
    JSON.stringify(manifest),
    `${FILE}\r\n${table(rows(2))}\r\n--X--\r\n`,
  ]
  const type = { 'content-type': 'multipart/form-data; boundary=X' }
  const answer = await site.call('operator', 'POST', '/api/csv/import/preflight', body.join('\r\n'), type)
  t.is(answer.body.building_id, manifest.building_id, answer.text)
})

test('a session that cannot be read is unknown, and keeps no other from being staged', async t => {
  const folder = join(site.workspace, 'imports', '00000000-0000-4000-8000-000000000000')
  for (const text of ['{"session_id":', 'null', '{}']) {
    await mkdir(folder)
    await writeFile(join(folder, 'session.json'), text)
    t.is((await execute('00000000-0000-4000-8000-000000000000')).status, 404)
    t.is((await preflight(airHandler(table(rows(2)), { manifest: ownBuilding() }))).status, 200)
    t.false((await readdir(join(folder, '..'))).includes('00000000-0000-4000-8000-000000000000'))
  }
})

test('the list of refused rows ends with the row that cannot be read', async t => {
  const csv = table(['never,60,40,1', '2026-03-01T00:00:00Z,60,40,"1'])
  const { body } = await preflight(airHandler(csv, { manifest: ownBuilding() }))
  const path = `/api/csv/import/preflight/${body.session_id}/rejects.csv`
  const { status, text } = await site.call('operator', 'GET', path)
  t.is(status, 200)
  const [, first, second, end] = text.split('\r\n')
  t.regex(first!, /^AHU-1\/history_wide\.csv,2,timestamp_unreadable,/)
  t.regex(second!, /^AHU-1\/history_wide\.csv,\d,row_unreadable,/)
  t.is(end, '')
})

test('a package that was imported has no list of refused rows any more', async t => {
  const { body } = await preflight(airHandler(table(rows(2)), { manifest: ownBuilding() }))
  t.is((await execute(body.session_id)).status, 200)
  const path = `/api/csv/import/preflight/${body.session_id}/rejects.csv`
  t.is((await site.call('operator', 'GET', path)).body.code, 'unknown_session')
})
