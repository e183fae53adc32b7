/** Pages read from the log give the same database, whatever SQLite did between two reads. */
import { closeSync, copyFileSync, ftruncateSync, openSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import test, { type ExecutionContext } from 'ava'
import { WalPages } from '#hub/cluster/wal-pages.ts'
import { folder } from '../../support/folders.ts'

const PAGE = 4096

/** A database whose log is followed into a copy. */
function open(t: ExecutionContext) {
  const dir = folder(t)
  const [path, copy] = [join(dir, 'a.db'), join(dir, 'copy.db')]
  const db = new Database(path)
  t.teardown(() => db.close())
  db.pragma('journal_mode = WAL')
  db.pragma('wal_autocheckpoint = 0')
  db.exec('CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)')
  db.pragma('wal_checkpoint(TRUNCATE)')
  copyFileSync(path, copy)
  const log = new WalPages(path, PAGE)
  const add = db.prepare('INSERT INTO notes (text) VALUES (?)')
  const follow = (): number => {
    const changed = log.read()
    if (!changed) return 0
    const file = openSync(copy, 'r+')
    for (const [page, content] of changed.pages) writeSync(file, content, 0, PAGE, (page - 1) * PAGE)
    ftruncateSync(file, changed.length * PAGE)
    closeSync(file)
    return changed.pages.size
  }
  const sameAs = () => {
    const other = new Database(copy, { readonly: true })
    try {
      t.is(other.pragma('integrity_check', { simple: true }), 'ok')
      const all = 'SELECT id, text FROM notes ORDER BY id'
      t.deepEqual(other.prepare(all).all(), db.prepare(all).all())
    } finally {
      other.close()
    }
  }
  return { db, add, follow, sameAs, path }
}

test('each commit is read once', t => {
  const { db, add, follow, sameAs } = open(t)
  t.is(follow(), 0)
  add.run('a')
  t.true(follow() > 0)
  t.is(follow(), 0)
  sameAs()
  for (let i = 0; i < 500; i++) add.run('x'.repeat(i * 10))
  follow()
  sameAs()
  db.exec('DELETE FROM notes WHERE id % 3 = 0')
  follow()
  sameAs()
})

test('a transaction that was taken back is not read, though its pages are in the log', t => {
  const { db, add, follow, sameAs, path } = open(t)
  add.run('kept')
  follow()
  const committed = statSync(`${path}-wal`).size
  db.pragma('cache_size = 10')
  db.exec('BEGIN')
  for (let i = 0; i < 2000; i++) add.run('spilled'.repeat(100))
  t.true(statSync(`${path}-wal`).size > committed + 10 * PAGE)
  t.is(follow(), 0, 'in the middle')
  db.exec('ROLLBACK')
  t.is(follow(), 0)
  add.run('after')
  t.true(follow() > 0)
  sameAs()
})

test('the log begins anew after a checkpoint, also where old pages are behind the new ones', t => {
  const { db, add, follow, sameAs } = open(t)
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 300 - round * 60; i++) add.run(`${round} `.repeat(200))
    follow()
    db.pragma('wal_checkpoint(PASSIVE)')
    add.run('first after the checkpoint')
    follow()
    sameAs()
  }
  db.pragma('wal_checkpoint(TRUNCATE)')
  t.is(follow(), 0)
  add.run('last')
  follow()
  sameAs()
})

test('a reader that holds old pages loses nothing', t => {
  const { db, add, follow, sameAs, path } = open(t)
  const reader = new Database(path, { readonly: true })
  t.teardown(() => reader.close())
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM notes').get()
  for (let i = 0; i < 100; i++) {
    add.run('y'.repeat(3000))
    follow()
    if (i % 10 === 0) db.pragma('wal_checkpoint(PASSIVE)')
  }
  reader.exec('COMMIT')
  db.pragma('wal_checkpoint(PASSIVE)')
  add.run('z')
  follow()
  sameAs()
})

test('a database that becomes shorter', t => {
  const { db, add, follow, sameAs } = open(t)
  for (let i = 0; i < 300; i++) add.run('x'.repeat(4000))
  follow()
  db.exec('DELETE FROM notes WHERE id > 5')
  db.exec('VACUUM')
  follow()
  sameAs()
})
