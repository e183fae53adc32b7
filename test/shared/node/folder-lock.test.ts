import test from 'ava'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lockFolder } from '#shared/node/folder-lock.ts'
import { startCentral } from '../../support/sites/central-site.ts'
import { temporaryFolder } from '../../support/sites/workspace.ts'

test('a workspace is one process’s until that process is killed', async t => {
  const folder = temporaryFolder(t)
  const child = fork(fileURLToPath(new URL('lock-child.ts', import.meta.url)), [folder])
  t.teardown(() => child.kill('SIGKILL'))
  t.deepEqual(await once(child, 'message'), ['locked', undefined])
  t.throws(() => lockFolder('the workspace', folder), { message: `the workspace ${folder} is in use by another process` })
  child.kill('SIGKILL')
  await once(child, 'exit')
  const unlock = lockFolder('the workspace', folder)
  t.deepEqual(readdirSync(folder), ['lock.db'], 'nothing is written, for which a full disk would have no room')
  unlock()
  unlock()
  lockFolder('the workspace', folder)()
})

test('a second central on a workspace says so and touches nothing of the first', async t => {
  const workspace = temporaryFolder(t)
  const first = await startCentral({ workspace })
  t.teardown(first.close)
  const root = join(workspace, '.cache', 'parquet')
  const staged = join(root, '.scratch', 'staged')
  const part = join(root, 'building_id=b', 'month=2026-03', '00000009-000.parquet')
  mkdirSync(join(part, '..'), { recursive: true })
  for (const file of [staged, part]) writeFileSync(file, 'of the first')
  await t.throwsAsync(startCentral({ workspace }), { message: /is in use by another process/ })
  t.true(
    [staged, part].every(file => existsSync(file)),
    readdirSync(root).join(),
  )
  t.is((await first.call('nobody', 'GET', '/api/health')).status, 200)
})

test('a central that cannot be opened, or is stopped, gives its workspace free', async t => {
  const workspace = temporaryFolder(t)
  writeFileSync(join(workspace, 'plenum.db'), 'no database at all, and long enough to be read as one '.repeat(99))
  for (const time of ['first', 'second']) {
    await t.throwsAsync(startCentral({ workspace }), { message: /plenum\.db cannot be opened/ }, time)
  }
  lockFolder('the workspace', workspace)()
})

test('a workspace that is no folder is named', t => {
  const folder = join(temporaryFolder(t), 'missing')
  t.throws(() => lockFolder('the workspace', folder), { message: new RegExp(`${folder} cannot be locked`) })
})
