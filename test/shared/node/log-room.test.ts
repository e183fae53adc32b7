import { cpSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { makeLogRoom } from '#shared/node/log-room.ts'
import { openDatabase, type PageBytes } from '#shared/node/sqlite.ts'
import { folder } from '../../support/folders.ts'

const ROW = 'x'.repeat(3000)
/** Pages at which SQLite makes a checkpoint. */
const CHECKPOINT = 1000

function open(t: ExecutionContext, pageBytes?: PageBytes) {
  const dir = folder(t)
  const path = join(dir, 'plenum.db')
  const db = openDatabase(path, pageBytes)
  t.teardown(() => db.close())
  db.exec('CREATE TABLE made (n INTEGER PRIMARY KEY, text TEXT)')
  const insert = db.prepare('INSERT INTO made (text) VALUES (?)')
  const write = (rows: number) => {
    for (let i = 0; i < rows; i++) insert.run(ROW)
  }
  /** What somebody finds who opens the files as they are now, after the power was cut. */
  const afterCut = () => {
    const copy = join(folder(t), 'plenum.db')
    for (const end of ['', '-wal']) cpSync(`${path}${end}`, `${copy}${end}`)
    const cut = openDatabase(copy)
    t.is(cut.pragma('integrity_check', { simple: true }), 'ok')
    const rows = cut.prepare('SELECT count(*) FROM made').pluck().get()
    cut.close()
    return rows
  }
  return { db, write, afterCut, log: () => statSync(`${path}-wal`).size, blocks: () => statSync(`${path}-wal`).blocks }
}

for (const pageBytes of [1024, 4096] as const) {
  test(`with pages of ${pageBytes} bytes a log with room has the same length and blocks through all commits and checkpoints, and nothing of it is lost`, t => {
    const { db, write, afterCut, log, blocks } = open(t, pageBytes)
    write(20)
    const before = log()
    makeLogRoom(db)
    t.is(afterCut(), 20, 'what was in it')
    write(100)
    const [length, taken] = [log(), blocks()]
    t.true(length > CHECKPOINT * pageBytes && length > before)
    t.true(taken * 512 >= length, 'they are there, and not a hole')
    for (let rows = 120; rows < 3000; rows += 100) {
      write(100)
      t.deepEqual([log(), blocks()], [length, taken])
      if (rows % 500 === 20) t.is(afterCut(), rows + 100)
    }
    makeLogRoom(db)
    t.is(log(), length, 'it has room already')
    t.is(afterCut(), db.prepare('SELECT count(*) FROM made').pluck().get() as number)
  })
}

test('an empty log gets room, and is deleted with the last connection', t => {
  const { db, write, afterCut, log } = open(t)
  db.pragma('wal_checkpoint(TRUNCATE)')
  t.is(log(), 0)
  makeLogRoom(db)
  t.is(afterCut(), 0)
  write(1)
  t.is(afterCut(), 1)
  const path = `${db.name}-wal`
  db.close()
  t.throws(() => readFileSync(path), { code: 'ENOENT' })
  rmSync(db.name)
})

test('while another connection writes, the log is left alone', t => {
  const { db, log } = open(t)
  const other = openDatabase(db.name)
  t.teardown(() => other.close())
  other.exec('BEGIN IMMEDIATE')
  const before = log()
  db.pragma('busy_timeout = 50')
  t.throws(() => makeLogRoom(db), { code: 'SQLITE_BUSY' })
  t.is(log(), before)
  other.exec('COMMIT')
  makeLogRoom(db)
  t.true(log() > before)
})
