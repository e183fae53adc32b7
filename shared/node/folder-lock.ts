import { join } from 'node:path'
// SQLite of Node itself: a protocol process contains no package that stores data.
import { DatabaseSync } from 'node:sqlite'

/** An empty database. The process that holds its lock owns the folder. */
const FILE = 'lock.db'
/** https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5

/**
 * Locks a folder for this process. The lock belongs to the operating system: it ends with the process, and no file has to
 * be removed.
 *
 * @param called name of the folder in messages, for example `the workspace`
 * @param folder exists
 * @returns releases the lock; safe to call twice
 * @throws Error that names the folder when another process has locked it, or when it cannot be written
 */
export function lockFolder(called: string, folder: string): () => void {
  let lock: DatabaseSync | undefined
  try {
    lock = new DatabaseSync(join(folder, FILE), { timeout: 0 })
    // A full disk must not prevent a start: the process may be what frees space.
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
