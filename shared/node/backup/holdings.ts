/** What a workspace or an unpacked backup holds, in figures. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openManifest } from '../historian/manifest.ts'
import { type Database, openReadOnly } from '../sqlite.ts'
import { DATABASE_FILE } from './archive.ts'

/** How much of everything is in a database and beside it. */
export type Holdings = {
  buildings: number
  equipment: number
  points: number
  findings: number
  users: number
  rules: number
  history_files: number
  history_bytes: number
}
/** @returns what the workspace has now; a database that cannot be read has nothing */
export function presentHoldings(workspace: string): Holdings {
  const db = openReadOnly(join(workspace, DATABASE_FILE))
  try {
    return holdingsOf(db, workspace)
  } finally {
    db.close()
  }
}

/** @param folder with the rules */
export function holdingsOf(db: Database, folder: string): Holdings {
  const count = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!
  const files = openManifest(db).files()
  const rules = existsSync(join(folder, 'rules')) ? readdirSync(join(folder, 'rules')) : []
  return {
    buildings: count('buildings'),
    equipment: count('equipment'),
    points: count('points'),
    findings: count('findings'),
    users: count('users'),
    rules: rules.filter(name => /\.ya?ml$/.test(name)).length,
    history_files: files.length,
    history_bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
  }
}
