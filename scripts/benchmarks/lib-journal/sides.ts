/** The two sides of the comparison: our journal, and the same records in a table of SQLite that is as safe. */
import Database from 'better-sqlite3'
import { join } from 'node:path'
import pino from 'pino'
import type { PriorityReading } from '#shared/core/priority/priority-record.ts'
import { openPriorityJournal } from '#appliance/priority/priority-journal.ts'

export type Side = {
  append(visit: PriorityReading[]): Promise<void>
  /** @returns how many records a page of 100 below `before` has */
  page(before: number): number
  last(): number
  close(): Promise<void>
}

export async function openOurs(dir: string, maxRecords: number): Promise<Side> {
  const journal = await openPriorityJournal({ dir, maxRecords, log: pino({ level: 'silent' }) })
  const { journal: state, reason } = journal.state()
  if (state !== 'ok') throw new Error(`the journal is ${state}: ${reason}`)
  return {
    append: async visit => void (await journal.append(visit)),
    page: before => journal.page({ before, limit: 100 }).records.length,
    last: () => journal.state().last,
    close: journal.close,
  }
}

/** One transaction a visit: the records as JSON, and as many of the oldest gone. */
export function openPeer(dir: string, maxRecords: number): Side {
  const db = new Database(join(dir, 'peer.db'))
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.exec(`CREATE TABLE IF NOT EXISTS record(
    seq INTEGER PRIMARY KEY, target TEXT NOT NULL, observed_at INTEGER NOT NULL, record TEXT NOT NULL);
    CREATE INDEX IF NOT EXISTS by_target ON record(target, seq)`)
  const insert = db.prepare('INSERT INTO record(target, observed_at, record) VALUES (?, ?, ?)')
  const forget = db.prepare('DELETE FROM record WHERE seq <= ?')
  const below = db.prepare('SELECT record FROM record WHERE seq < ? ORDER BY seq DESC LIMIT 101').pluck()
  const append = db.transaction((visit: PriorityReading[]) => {
    let last = 0
    for (const reading of visit) {
      const { device_instance, object_type, object_instance } = reading.target
      const target = `${device_instance}/${object_type},${object_instance}`
      last = Number(insert.run(target, reading.observed_at, JSON.stringify(reading)).lastInsertRowid)
    }
    forget.run(last - maxRecords)
  })
  const last = db.prepare('SELECT max(seq) FROM record').pluck()
  return {
    append: async visit => append(visit),
    page: before => (below.all(before) as string[]).slice(0, 100).map(text => JSON.parse(text) as unknown).length,
    last: () => last.get() as number,
    close: async () => void db.close(),
  }
}
