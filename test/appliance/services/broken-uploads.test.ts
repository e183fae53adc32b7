/** Bodies that are no forms, at every route that takes a form with files. */
import { once } from 'node:events'
import { connect } from 'node:net'
import test from 'ava'
import { PASSWORDS } from '../../support/sites/box-central.ts'
import { type DevicesSite, openDevicesSite } from '../../support/sites/devices-site.ts'

let site: DevicesSite
let token: string
test.before(async () => {
  site = await openDevicesSite()
  const body = JSON.stringify({ username: 'admin', password: PASSWORDS.admin })
  const answer = await fetch(`${site.url}/api/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  })
  token = ((await answer.json()) as { token: string }).token
})
test.after.always(() => site.close())

const UPLOADS = [
  '/api/csv/import/preflight',
  '/api/devices/import',
  '/api/devices/import?dry_run=true',
  '/devices/import',
  '/api/restore',
]
const TYPE = 'multipart/form-data; boundary=X'
const FILE = '--X\r\nContent-Disposition: form-data; name="f"; filename="a.csv"\r\nContent-Type: text/csv\r\n\r\n'
const FIELD = '--X\r\nContent-Disposition: form-data; name="format"\r\n\r\n'
const manyFiles = Array.from({ length: 3000 }, (_, i) => `${FILE.replace('a.csv', `${i}.csv`)}a\r\n`).join('')
const CASES: [what: string, type: string, body: string, status: number][] = [
  ['no closing boundary', TYPE, `${FILE}a,b\r\n1,2\r\n`, 400],
  ['half a closing boundary', TYPE, `${FILE}a,b\r\n1,2\r\n--X-`, 400],
  ['a field before the file and no closing boundary', TYPE, `${FIELD}ede\r\n${FILE}a,b\r\n`, 400],
  ['a field that is cut off', TYPE, `${FIELD}ed`, 400],
  ['a header that is cut off', TYPE, FILE.slice(0, 40), 400],
  ['a header and no more', TYPE, FILE, 400],
  ['two files, the second one cut off', TYPE, `${FILE}a\r\n${FILE.replace('a.csv', 'b.csv')}b`, 400],
  ['another boundary than the header says', TYPE, `${FILE}a\r\n--X--\r\n`.replaceAll('--X', '--Y'), 400],
  ['no boundary in the header', 'multipart/form-data', `${FILE}a\r\n--X--\r\n`, 400],
  ['an empty boundary', 'multipart/form-data; boundary=', `${FILE}a\r\n--X--\r\n`, 400],
  ['a boundary alone', TYPE, '--X--\r\n', 400],
  ['no file', TYPE, `${FIELD}ede\r\n--X--\r\n`, 400],
  ['text that is no form', TYPE, 'garbage', 400],
  ['a field named __proto__', TYPE, `${FIELD.replace('format', '__proto__')}x\r\n${FILE}a\r\n--X--\r\n`, 400],
  [
    'a field that says it is JSON and is not',
    TYPE,
    `${FIELD.replace('\r\n\r\n', '\r\nContent-Type: application/json\r\n\r\n')}{\r\n--X--\r\n`,
    400,
  ],
  [
    'a header of 200 kB',
    TYPE,
    `--X\r\nContent-Disposition: form-data; name="f"; filename="${'a'.repeat(200_000)}"\r\n\r\na\r\n--X--\r\n`,
    400,
  ],
  [
    'thousands of headers',
    TYPE,
    `--X\r\n${'x: y\r\n'.repeat(10_000)}Content-Disposition: form-data; name="f"; filename="a"\r\n\r\na\r\n--X--\r\n`,
    400,
  ],
  ['three thousand files', TYPE, `${manyFiles}--X--\r\n`, 413],
  ['a thousand fields', TYPE, `${`${FIELD}a\r\n`.repeat(1000)}${FILE}a\r\n--X--\r\n`, 413],
]

/** A restore reads one file, which is no backup, and has no field of these names. */
const OF_RESTORE: Readonly<Record<string, number>> = {
  'a field named __proto__': 422,
  'three thousand files': 422,
  'a thousand fields': 400,
}

for (const path of UPLOADS) {
  // A second restore is refused while the first is read.
  const run = path === '/api/restore' ? test.serial : test
  for (const [what, type, body, usual] of CASES) {
    const status = (path === '/api/restore' && OF_RESTORE[what]) || usual
    run(`${path} answers a form with ${what} with ${status}`, async t => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': type }
      const answer = await fetch(site.url + path, { method: 'POST', headers, body })
      const problem = (await answer.json()) as { code: string; detail: string }
      t.is(answer.status, status, JSON.stringify(problem))
      t.is(answer.headers.get('content-type'), 'application/problem+json')
    })
  }

  run(`${path} outlives a client that hangs up in the middle of a file`, async t => {
    const { port } = new URL(site.url)
    const socket = connect(Number(port), '127.0.0.1')
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${TYPE}\r\n`
    socket.write(`${head}Content-Length: 100000\r\n\r\n${FILE}${'a'.repeat(5000)}`)
    await once(socket, 'connect')
    socket.end()
    socket.destroy()
    await once(socket, 'close')
    t.is((await fetch(`${site.url}/api/health`)).status, 200)
  })
}

test('these are all the routes that take forms with files', t => {
  const paths = [...site.centralRoutes, ...site.routes].filter(({ takes }) => takes === 'upload').map(({ path }) => path)
  t.deepEqual([...new Set(UPLOADS.map(path => path.split('?')[0]))].toSorted(), paths.toSorted())
})
