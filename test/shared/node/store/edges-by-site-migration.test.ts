import test from 'ava'
import Sqlite from 'better-sqlite3'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openDatabase } from '#shared/node/sqlite.ts'
import { edgeStore } from '#shared/node/store/edges.ts'
import { openInbox } from '#shared/node/store/inbox.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

const MIGRATIONS = new URL('../../../../shared/node/migrations/', import.meta.url)

/** A database as the version before the migration left it. */
function before(path: string): Sqlite.Database {
  const files = readdirSync(MIGRATIONS)
    .filter(name => name.endsWith('.sql'))
    .toSorted()
  const count = files.findIndex(name => name.endsWith('-edges-by-site.sql'))
  const db = new Sqlite(path)
  for (const name of files.slice(0, count)) db.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'))
  db.pragma(`user_version = ${count}`)
  return db
}

test('a database whose edges had an id alone keeps edges and marks, and then takes a second site with the same id', t => {
  const path = join(temporaryFolder(t), 'plenum.db')
  const old = before(path)
  const insert = old.prepare(
    "INSERT INTO edges VALUES (?, ?, ?, 'Roof', '1', 5, 'operational', ?, 1, 3, 4, 77, '{\"online\":true}')",
  )
  insert.run('fieldbus-1', 'A', 'hall', 'https://box.example/')
  insert.run('other', 'B', 'school', null)
  old.exec(`INSERT INTO marks VALUES ('fieldbus-1', 's1', 7), ('fieldbus-1', 's2', 3), ('other', 's1', 9), ('gone', 's1', 2);
    INSERT INTO mark_messages VALUES ('fieldbus-1', 's1', 'm7'), ('other', 's1', NULL)`)
  old.close()

  const look = () => {
    const db = openDatabase(path)
    const edges = edgeStore(db)
    const marks = db.prepare('SELECT * FROM edge_marks ORDER BY 1, 2, 3').raw().all()
    return { db, edges, marks }
  }
  const first = look()
  t.deepEqual(first.marks, [
    ['A', 'fieldbus-1', 's1', 7, 'm7'],
    ['A', 'fieldbus-1', 's2', 3, null],
    ['B', 'other', 's1', 9, null],
  ])
  const edge = first.edges.get('A', 'fieldbus-1')!
  t.like(edge, {
    building_id: 'hall',
    connector_url: 'https://box.example/',
    online: true,
    metadata_revision: 77,
    last_data_at: 4,
  })
  first.db.close()

  const { db, edges, marks } = look()
  t.deepEqual(marks, first.marks, 'opening it again changes nothing')
  edges.put({ ...edge, site_id: 'B', building_id: 'school' })
  t.deepEqual(
    edges.named('fieldbus-1').map(one => [one.site_id, one.building_id]),
    [
      ['A', 'hall'],
      ['B', 'school'],
    ],
  )
  const message = { edge_id: 'fieldbus-1', building_id: 'hall', stream: 's1', readings: [], findings: [], withdrawn: [] }
  const inbox = openInbox(db)
  t.deepEqual(inbox.accept([{ ...message, site_id: 'A', seq: 7 }]), [{ status: 'duplicate', through_seq: 7, through_id: 'm7' }])
  t.deepEqual(inbox.accept([{ ...message, site_id: 'B', seq: 1 }]), [{ status: 'stored', through_seq: 1 }])
  db.close()
})

test('before its tables change a database is copied beside itself, and the copy of an earlier change goes', t => {
  const path = join(temporaryFolder(t), 'plenum.db')
  const old = before(path)
  const version = old.pragma('user_version', { simple: true })
  old.exec("INSERT INTO marks VALUES ('fieldbus-1', 's1', 7)")
  old.close()
  writeFileSync(`${path}.v3`, 'of an earlier change')
  writeFileSync(`${path}.v3.txt`, 'a note of the operator')
  openDatabase(path).close()
  const copies = () =>
    readdirSync(dirname(path))
      .filter(name => name.includes('.v'))
      .toSorted()
  t.deepEqual(copies(), ['plenum.db.v3.txt', `plenum.db.v${version}`].toSorted())
  const copy = new Sqlite(`${path}.v${version}`, { readonly: true })
  t.is(copy.pragma('user_version', { simple: true }), version)
  t.deepEqual(copy.prepare('SELECT * FROM marks').raw().all(), [['fieldbus-1', 's1', 7]])
  copy.close()
  openDatabase(path).close()
  t.is(copies().length, 2, 'an open that changes nothing copies nothing')
})
