import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { makeFolder, replaceFileStat } from '#shared/node/files.ts'

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

test('the stats of a replaced file are those that it has afterwards', async t => {
  const path = join(root, 'replaced')
  for (const content of ['one', 'two']) {
    const { ino, size, mtimeNs, ctimeNs } = await replaceFileStat(path, content)
    t.like(statSync(path, { bigint: true }), { ino, size, mtimeNs, ctimeNs })
  }
  t.false(existsSync(`${path}.tmp`))
})
