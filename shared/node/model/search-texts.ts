/**
 * The texts that a search goes through, by building. They are made from the model, whose thousands of buildings would be parsed
 * for each search or fill the memory. Their file begins empty with each process, so that it can never be of another database.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import Sqlite, { type Database } from 'better-sqlite3'

/** `words` is gone through; `shown` and `names` are read of buildings with a hit, or with faults. */
export type SearchText = { language: string; building_id: string; revision: number; words: string; shown: string; names: string }
export type SearchTexts = {
  /** By building. */
  revisions(language: string): Map<string, number>
  /** All or nothing. `begun anew`: the file could not be written, and nothing that was put before is left either. */
  put(texts: SearchText[]): 'stored' | 'begun anew'
  /** Texts whose `words` have each of these, wherever they stand; of one building or of all. */
  having(language: string, words: readonly string[], building_id?: string): Iterable<{ building_id: string; words: string }>
  shown(language: string, building_id: string): string | undefined
  names(language: string): Iterable<{ building_id: string; names: string }>
  close(): void
}

/** Pages of the file that stay in memory. */
const CACHE_KIB = 2000

/** @param path of the file, which is made when the first text is put; in memory from the moment that it cannot be written */
export function openSearchTexts(path: string): SearchTexts {
  let open: ReturnType<typeof statementsOf> | undefined
  let isInMemory = false
  const ours = () => (open ??= isInMemory ? inMemory() : (inFile(path) ?? inMemory()))
  return {
    revisions: language => new Map(ours().revisions.all(language) as [string, number][]),
    put(texts) {
      try {
        ours().put(texts)
        return 'stored'
      } catch (error) {
        if (isInMemory) throw error
        // The disk is full.
        open?.db.close()
        rmSync(path, { force: true })
        isInMemory = true
        open = undefined
        ours().put(texts)
        return 'begun anew'
      }
    },
    having: (language, words, building_id) => ours().having(language, words, building_id),
    shown: (language, building_id) => ours().shown.get(language, building_id) as string | undefined,
    names: language => ours().names.all(language) as { building_id: string; names: string }[],
    close() {
      open?.db.close()
      if (open && !open.db.memory) rmSync(path, { force: true })
      open = undefined
    },
  }
}

const inMemory = () => statementsOf(new Sqlite(':memory:'))

function inFile(path: string): ReturnType<typeof statementsOf> | undefined {
  try {
    mkdirSync(dirname(path), { recursive: true })
    rmSync(path, { force: true })
    const db = new Sqlite(path)
    // Nothing of it has to outlast the process.
    db.pragma('journal_mode = OFF')
    db.pragma('synchronous = OFF')
    db.pragma(`cache_size = -${CACHE_KIB}`)
    return statementsOf(db)
  } catch {
    return undefined
  }
}

function statementsOf(db: Database) {
  db.exec(`CREATE TABLE texts (
    language    TEXT NOT NULL,
    building_id TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    names       TEXT NOT NULL,
    words       TEXT NOT NULL,
    shown       TEXT NOT NULL,
    UNIQUE (language, building_id)
  ) STRICT`)
  const put = db.prepare(
    `INSERT INTO texts (language, building_id, revision, names, words, shown)
     VALUES (@language, @building_id, @revision, @names, @words, @shown)
     ON CONFLICT DO UPDATE SET revision = excluded.revision, names = excluded.names, words = excluded.words, shown = excluded.shown`,
  )
  const prepared = new Map<string, ReturnType<Database['prepare']>>()
  return {
    db,
    put: db.transaction((texts: SearchText[]) => texts.forEach(text => put.run(text))),
    revisions: db.prepare('SELECT building_id, revision FROM texts WHERE language = ?').raw(),
    shown: db.prepare('SELECT shown FROM texts WHERE language = ? AND building_id = ?').pluck(),
    names: db.prepare('SELECT building_id, names FROM texts WHERE language = ?'),
    having(language: string, words: readonly string[], building_id?: string) {
      const conditions = [
        'language = ?',
        ...(building_id === undefined ? [] : ['building_id = ?']),
        ...words.map(() => 'instr(words, ?) > 0'),
      ]
      const sql = `SELECT building_id, words FROM texts WHERE ${conditions.join(' AND ')}`
      const statement = prepared.get(sql) ?? db.prepare(sql)
      prepared.set(sql, statement)
      const values = [language, ...(building_id === undefined ? [] : [building_id]), ...words]
      return statement.iterate(...values) as Iterable<{ building_id: string; words: string }>
    },
  }
}
