import { join } from 'node:path'
// Node's own SQLite: a protocol process holds no package that stores.
import { DatabaseSync } from 'node:sqlite'

/** A database that holds nothing; who has its lock has the folder. */
const FILE = 'lock.db'
/** https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5

/**
 * Takes a folder for this process alone. The lock is the operating system's: it ends with the process, however that ends,
 * and no file has to be cleared away.
 *
 * @param called what the folder is to its owner, for example `the workspace`
 * @param folder exists
 * @returns gives the folder free; safe to call twice
 * @throws Error that names the folder when another process has it, or when it cannot be written
 */
export function lockFolder(called: string, folder: string): () => void {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(join(folder, FILE), { timeout: 0 })
    // A full disk must not keep a process from starting: it may be what empties it.
    lock.exec('PRAGMA journal_mode = MEMORY')
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    const { errcode, message } = error as Error & { errcode?: number }
    const why = errcode === SQLITE_BUSY ? 'is in use by another process' : `cannot be locked: ${message}`
    throw new Error(`${called} ${folder} ${why}`, { cause: error })
  }
  const held = lock
  return () => void (held.isOpen && held.close())
}
