import { errorText } from '#shared/core/error-text.ts'
import { type SchemaObject, isAdditive } from '#shared/core/schema-change.ts'
import Database from 'better-sqlite3'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { dirname, join, parse } from 'node:path'
import { syncFolder } from './files.ts'

export type { Database, Statement } from 'better-sqlite3'

/** How long a writer waits for another process's transaction before SQLite fails. */
const BUSY_MS = 5_000

/**
 * Pages that a reader keeps, as SQLite itself has it. The package would keep 16 MB, of a file that the operating system has in its
 * cache too: 25 MB of a process that runs rules every hour.
 */
const READ_CACHE_KIB = 2000

/** Bytes of a page of the database, which is the least that a commit writes of a table. */
export type PageBytes = 1024 | 4096

const MIGRATIONS = new URL('migrations/', import.meta.url)

/**
 * Opens the database of a process, creates it if it is missing, and brings its tables up to date.
 *
 * A commit is durable when it returns: WAL with synchronous=FULL survives a power cut; with NORMAL commits were lost.
 *
 * @param pageBytes of a database that is made; one that is there keeps what it has
 * @throws Error that names the path and the reason when the file cannot be opened or written
 */
export function openDatabase(path: string, pageBytes: PageBytes = 4096): Database.Database {
  return naming(path, () => {
    mkdirSync(dirname(path), { recursive: true })
    const db = new Database(path, { timeout: BUSY_MS })
    try {
      db.pragma(`page_size = ${pageBytes}`)
      db.pragma('journal_mode = WAL')
      db.pragma('synchronous = FULL')
      db.pragma('foreign_keys = ON')
      migrate(db)
      return db
    } catch (error) {
      db.close()
      throw error
    }
  })
}

/**
 * Opens the database for reading while another process writes it; each transaction sees what was committed before. @throws
 * as `openDatabase`
 */
export function openReadOnly(path: string): Database.Database {
  return naming(path, () => {
    const db = new Database(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS })
    db.pragma(`cache_size = -${READ_CACHE_KIB}`)
    return db
  })
}

/** A migration whose file has this line changes what stored rows mean, so that no earlier version can use them. */
const NOT_ADDITIVE = /^-- not additive\b/m

/**
 * Applies the files of `migrations/` that are new to the database in the order of their names, each in one transaction, and all
 * in one where the database is made. The database knows the earliest version that can use its tables (`application_id`): an update
 * that is taken back finds tables of the version after it, and goes on with them where they have only grown.
 *
 * @throws Error for tables of a newer version that this one cannot use
 */
function migrate(db: Database.Database): void {
  const files = readdirSync(MIGRATIONS)
    .filter(name => name.endsWith('.sql'))
    .toSorted()
  const number = (pragma: string) => db.pragma(pragma, { simple: true }) as number
  const seen = number('user_version')
  if (seen > files.length) {
    const earliest = number('application_id')
    if (earliest > 0 && earliest <= files.length) return
    throw new Error('it was written by a newer version of this program')
  }
  if (seen > 0 && seen < files.length) copyBefore(db, seen)
  const schema = db.prepare<[], SchemaObject>('SELECT type, name, tbl_name, sql FROM sqlite_schema')
  const apply = db.transaction((name: string, version: number) => {
    const text = readFileSync(new URL(name, MIGRATIONS), 'utf8')
    const before = schema.all()
    db.exec(text)
    const isUsable = !NOT_ADDITIVE.test(text) && isAdditive(before, schema.all())
    const earliest = isUsable ? number('application_id') || Math.max(version - 1, 1) : version
    db.pragma(`application_id = ${earliest}`)
    db.pragma(`user_version = ${version}`)
  })
  const applyNew = () => {
    for (const [i, name] of files.entries()) if (i >= seen) apply.immediate(name, i + 1)
  }
  // A database that is made has nothing to go back to: one commit, where each would wait for the disk.
  if (seen === 0) db.transaction(applyNew).immediate()
  else applyNew()
}

/** End of the name of a copy. */
const COPY = /^\.v\d+$/

/**
 * Copies the database beside itself before its tables change, as `plenum.db.v19`: by hand, that is the way back to the version
 * of the program before. Copies of earlier changes are removed.
 *
 * @throws Error when there is no space for it; the database is unchanged then
 */
function copyBefore(db: Database.Database, version: number): void {
  const { dir, base } = parse(db.name)
  const copy = `${db.name}.v${version}`
  const unfinished = `${copy}.tmp`
  rmSync(unfinished, { force: true })
  db.prepare('VACUUM INTO ?').run(unfinished)
  const descriptor = openSync(unfinished, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
  renameSync(unfinished, copy)
  syncFolder(dir)
  const others = readdirSync(dir).filter(
    name => COPY.test(name.slice(base.length)) && name.startsWith(base) && join(dir, name) !== copy,
  )
  for (const name of others) rmSync(join(dir, name))
}

function naming<T>(path: string, open: () => T): T {
  try {
    return open()
  } catch (error) {
    const why = hasRoom(dirname(path)) ? errorText(error) : `the disk is full (${errorText(error)})`
    throw new Error(`the database ${path} cannot be opened: ${why}`, { cause: error })
  }
}

/** Of an index of its log, which SQLite makes when it opens a database. */
const INDEX_BYTES = 32_768

function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return true
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize >= INDEX_BYTES
}
