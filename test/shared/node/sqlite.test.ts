import { mkdirSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { openDatabase } from '#shared/node/sqlite.ts'
import { temporaryFolder } from '../../support/sites/workspace.ts'

/** Files that this process has open below a folder. */
const openBelow = (folder: string): string[] =>
  readdirSync('/proc/self/fd').flatMap(name => {
    try {
      const link = readlinkSync(`/proc/self/fd/${name}`)
      return link.startsWith(folder) ? [link] : []
    } catch {
      return [] // The folder itself was closed after it was read.
    }
  })

test('a database that cannot be opened is named, and no file of it stays open', t => {
  const folder = temporaryFolder(t)
  const path = join(folder, 'plenum.db')
  writeFileSync(path, 'this is no database, and it is long enough for a header of one hundred bytes'.repeat(3))
  for (let i = 0; i < 3; i++) t.throws(() => openDatabase(path), { message: /plenum\.db/ })
  t.deepEqual(openBelow(folder), [])

  mkdirSync(join(folder, 'folder.db'))
  t.throws(() => openDatabase(join(folder, 'folder.db')), { message: /folder\.db/ })
  const db = openDatabase(join(folder, 'good.db'))
  t.true(openBelow(folder).includes(join(folder, 'good.db')), 'an open database is seen')
  db.close()
  t.deepEqual(openBelow(folder), [])
})
