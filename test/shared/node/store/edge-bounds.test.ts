import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import Database from 'better-sqlite3'
import { openDatabase } from '#shared/node/sqlite.ts'
import { openEdgeBounds } from '#shared/node/store/edge-bounds.ts'
import { edgeModel } from '../../../support/sites/transport-site.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

const MIGRATIONS = new URL('../../../../shared/node/migrations/', import.meta.url)
/** Without the table of these buildings. */
const VERSION = 30

const LIMITS = { buildings: 2, points: 10, streams: 10, findings: 10 }

test('a database of a version before counts the buildings that its edges have reported for', t => {
  const path = join(temporaryFolder(t), 'plenum.db')
  const old = new Database(path)
  for (const name of readdirSync(MIGRATIONS).toSorted().slice(0, VERSION))
    old.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'))
  old.exec(`PRAGMA user_version = ${VERSION};
    INSERT INTO buildings VALUES ('now', 'Now', 'A', 'UTC', 'si', NULL, NULL), ('before', 'Before', 'A', 'UTC', 'si', NULL, NULL);
    INSERT INTO points VALUES ('before', 'p1', NULL, 'p1', NULL, 'K', 'number', '{}', NULL, NULL, 'e1', NULL);
    INSERT INTO edges VALUES ('e1', 'A', 'now', 'Roof', '1', 5, 'operational', NULL, 1, 3, 4, 77, '{}')`)
  old.close()
  const db = openDatabase(path)
  t.teardown(() => db.close())
  const { refusalOf } = openEdgeBounds(db, LIMITS)
  t.regex(
    refusalOf({ site_id: 'A', edge_id: 'e1' }, edgeModel('A', 'next')) ?? '',
    /^2 buildings of edge e1 are stored, and this brings 1 more/,
  )
  t.is(refusalOf({ site_id: 'A', edge_id: 'e1' }, edgeModel('A', 'before')), undefined)
  t.is(refusalOf({ site_id: 'B', edge_id: 'e1' }, edgeModel('B', 'next')), undefined, 'an edge of another site')
})
