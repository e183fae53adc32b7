import { randomBytes } from 'node:crypto'
import test from 'ava'
import { inspectionService } from '#appliance/system/inspection-service.ts'
import { openSite } from '../../support/sites/page-site.ts'

test('two files of diagnostics are fetched at the same time; a third replaces the oldest, and a finished one is gone', async t => {
  const box = await openSite({ product: 'appliance' })
  t.teardown(box.close)
  const { recent } = box.context.inspection
  for (let i = 0; i < 200; i++) recent.add(JSON.stringify({ level: 30, msg: randomBytes(1000).toString('base64') }))
  const { ask } = inspectionService(() => box.context, Date.now)
  const [a, b] = [await ask('diagnostics', {}), await ask('diagnostics', {})]
  const offset = Buffer.from(a.piece, 'base64').length
  t.is(offset, 65_536)
  t.true(a.bytes > 2 * offset, 'more than two pieces, so that each file is still wanted')
  for (const { file_id } of [a, b]) t.is((await ask('diagnostics', { file: { file_id, offset } })).file_id, file_id)
  await ask('diagnostics', {})
  const gone = { code: 'conflict', message: /ask for a new file/ }
  t.like(await t.throwsAsync(ask('diagnostics', { file: { file_id: a.file_id, offset } })), { code: gone.code })
  t.is((await ask('diagnostics', { file: { file_id: b.file_id, offset } })).file_id, b.file_id)
  const end = { file_id: b.file_id, offset: b.bytes - (b.bytes % 65_536) }
  t.is((await ask('diagnostics', { file: end })).file_id, b.file_id)
  await t.throwsAsync(ask('diagnostics', { file: end }), { message: gone.message })
})
