import Database from 'better-sqlite3'
import { join } from 'node:path'

/** A database that holds nothing; who has its lock has the folder. */
const FILE = 'lock.db'

/**
 * Takes a folder for this process alone. The lock is the operating system's: it ends with the process, however that ends,
 * and no file has to be cleared away.
 *
 * @param folder exists
 * @returns gives the folder free; safe to call twice
 * @throws Error that names the folder when another process has it, or when it cannot be written
 */
export function lockWorkspace(folder: string): () => void {
  let lock: Database.Database | undefined
  try {
    lock = new Database(join(folder, FILE), { timeout: 0 })
    lock.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    lock?.close()
    const { code, message } = error as Error & { code?: string }
    const why = code === 'SQLITE_BUSY' ? 'is in use by another process' : `cannot be locked: ${message}`
    throw new Error(`the workspace ${folder} ${why}`, { cause: error })
  }
  const held = lock
  return () => void held.close()
}
