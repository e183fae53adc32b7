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

test('a database keeps the size of page that it was made with', t => {
  const path = join(temporaryFolder(t), 'plenum.db')
  const pageOf = (db: ReturnType<typeof openDatabase>) => db.pragma('page_size', { simple: true })
  const db = openDatabase(path, 1024)
  t.is(pageOf(db), 1024)
  db.close()
  const again = openDatabase(path)
  t.is(pageOf(again), 1024)
  again.close()
  const large = openDatabase(':memory:')
  t.is(pageOf(large), 4096)
  large.close()
})

test('after an update was taken back, tables that have only grown are used, and others are refused', t => {
  const path = join(temporaryFolder(t), 'plenum.db')
  const newer = openDatabase(path)
  const version = newer.pragma('user_version', { simple: true }) as number
  newer.exec(`ALTER TABLE parts ADD COLUMN added TEXT; CREATE TABLE added (a); PRAGMA user_version = ${version + 1}`)
  newer.close()
  const again = openDatabase(path)
  t.is(again.pragma('user_version', { simple: true }), version + 1)
  again.pragma(`application_id = ${version + 1}`)
  again.close()
  t.throws(() => openDatabase(path), { message: /written by a newer version/ })
})

test('the version before the newest migration can use its tables, so that an update of a box can be taken back', t => {
  const db = openDatabase(':memory:')
  const earliest = db.pragma('application_id', { simple: true }) as number
  t.true(earliest < (db.pragma('user_version', { simple: true }) as number), `only from version ${earliest} on`)
  db.close()
})
