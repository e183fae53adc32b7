import type { ExecutionContext } from 'ava'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openHistorian, type StoredHistorian } from '#shared/node/historian/historian.ts'
import { type Database, openDatabase } from '#shared/node/sqlite.ts'

type Teardown = Pick<ExecutionContext, 'teardown'>

/** A folder that is gone after the test. */
export function temporaryFolder(t: Teardown): string {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-stores-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A database of its own that is gone after the test. */
export function temporaryDatabase(t: Teardown): Database {
  const db = openDatabase(join(temporaryFolder(t), 'plenum.db'))
  t.teardown(() => db.close())
  return db
}

export const MEMORY_MB = 128
export const IDLE_MS = 20_000

export type Place = { db: Database; dbPath: string; root: string; historian: StoredHistorian }

/** A historian on the disk with its two processes; all gone after the test. */
export async function temporaryHistorian(t: Teardown): Promise<Place> {
  const folder = temporaryFolder(t)
  const dbPath = join(folder, 'plenum.db')
  const root = join(folder, 'parquet')
  const db = openDatabase(dbPath)
  t.teardown(() => db.close())
  const historian = await openHistorian({ db, root, memoryMb: MEMORY_MB, idleMs: IDLE_MS })
  t.teardown(historian.stop)
  return { db, dbPath, root, historian }
}
