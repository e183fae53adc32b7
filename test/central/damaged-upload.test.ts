import test from 'ava'
import { ZipFile } from 'yazl'
import { importer } from './importer.ts'
import { airHandler, table, zipForm } from './packages.ts'
import { startCentral, type TestCentral } from './site.ts'

let site: TestCentral
test.before(async () => {
  site = await startCentral()
})
test.after.always(() => site?.close())
const { ownBuilding } = importer(() => site)

test('a byte that was flipped in a stored entry of an archive is told by the checksum', async t => {
  const zip = new ZipFile()
  const files = airHandler(table(['2026-03-01T00:00:00Z,60,40,1']), { manifest: ownBuilding() })
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path, { compress: false })
  zip.end()
  const whole = Buffer.concat(await Array.fromAsync(zip.outputStream as AsyncIterable<Buffer>))
  const send = (bytes: Buffer) => site.call('operator', 'POST', '/api/csv/import/preflight', zipForm(bytes))
  t.is((await send(whole)).status, 200)
  whole[whole.indexOf(',60,40,1') + 1] = '9'.charCodeAt(0)
  const { status, body } = await send(whole)
  t.deepEqual([status, body.code], [422, 'package_invalid'])
  t.regex(body.detail, /AHU-1\/history_wide\.csv .*checksum/)
})
