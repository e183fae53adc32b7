import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { makeFolder } from '#shared/node/files.ts'

const root = mkdtempSync(join(tmpdir(), 'plenum-files-'))
test.after.always(() => rmSync(root, { recursive: true }))

test('a folder is made with all above it, also twice and by two at once', async t => {
  const folder = join(root, 'a', 'b', 'c')
  await Promise.all([makeFolder(folder), makeFolder(folder)])
  await makeFolder(folder)
  t.true(existsSync(folder))
})

test('what cannot be made is named, and a file in its place too', async t => {
  writeFileSync(join(root, 'file'), '')
  await t.throwsAsync(makeFolder(join(root, 'file')), { message: `${join(root, 'file')} is not a folder` })
  await t.throwsAsync(makeFolder(join(root, 'file', 'below')), { message: `${join(root, 'file')} is not a folder` })
  await t.throwsAsync(makeFolder('/proc/plenum/workspace'), { message: /\/proc\/plenum/ })
})
