import test from 'ava'
import Sqlite from 'better-sqlite3'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '#shared/node/sqlite.ts'
import { noteStore } from '#shared/node/store/notes.ts'
import { resultStores } from '#shared/node/store/results.ts'
import { snoozeStore } from '#shared/node/store/snoozes.ts'
import { COOLING } from '../../../support/page-fixture.ts'
import { temporaryFolder } from '../../../support/sites/workspace.ts'

const MIGRATIONS = new URL('../../../../shared/node/migrations/', import.meta.url)

test('snoozes that an earlier version stored in notes are in force, with who set them; the note stays', t => {
  const path = join(temporaryFolder(t), 'plenum.db')
  const first = openDatabase(path)
  resultStores(first).findings.put([COOLING])
  first.close()
  const db = new Sqlite(path)
  const body = { finding_id: COOLING.finding_id, ack: 'acked', note: 'belt', snoozed_until: 5000, snooze_reason: 'part' }
  db.prepare('INSERT INTO notes VALUES (?, ?)').run(COOLING.finding_id, JSON.stringify(body))
  db.prepare('INSERT INTO notes VALUES (?, ?)').run('plain', JSON.stringify({ finding_id: 'plain', ack: 'acked' }))
  db.prepare(
    "INSERT INTO audit (at, actor, role, action, subject, after, request_id) VALUES (1, 'kim', 'operator', 'finding_snooze', ?, ?, 'r')",
  ).run(COOLING.finding_id, JSON.stringify(body))
  db.exec('DROP TABLE snoozes')
  const file = readdirSync(MIGRATIONS).find(name => name.endsWith('-snoozes.sql'))!
  db.exec(readFileSync(new URL(file, MIGRATIONS), 'utf8'))
  db.close()

  const later = openDatabase(path)
  t.teardown(() => later.close())
  const [only, ...more] = snoozeStore(later).list(4999, 10)
  t.deepEqual(more, [])
  t.like(only, {
    finding_id: COOLING.finding_id,
    building_id: COOLING.building_id,
    until: 5000,
    reason: 'part',
    created_by: 'kim',
  })
  const notes = noteStore(later)
  t.deepEqual(notes.get(COOLING.finding_id), { finding_id: COOLING.finding_id, ack: 'acked', note: 'belt' })
  t.like(notes.of(COOLING, 4999), { snoozed_until: 5000, snooze_scope: 'episode', note: 'belt' })
  t.is(notes.of(COOLING, 5000).snoozed_until, undefined)
})
