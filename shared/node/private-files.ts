/** Files of a process are readable by its own user only: folders 700, files 600, regardless of the umask. */
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'

/** Permissions of everyone but the owner. */
const OTHERS = 0o077

/**
 * Makes all files that this process and its children create from now on private, whichever library creates them: databases
 * with their journals, Parquet files, uploads, sockets. Called once, before anything is opened.
 */
export const keepFilesPrivate = (): void => void process.umask(OTHERS)

/**
 * Removes the permissions of others from a folder and from its entries, which an earlier version or a person may have
 * created.
 *
 * @param entries names of the entries to change, with all that they contain; the folder may hold other files
 * @returns paths whose permissions could not be changed: they belong to another user, or their file system has none
 */
function makePrivate(folder: string, entries: readonly string[]): string[] {
  const failed: string[] = []
  const visit = (path: string, isRoot: boolean): void => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    // The target of a link may belong to someone else.
    if (!stat || stat.isSymbolicLink()) return
    if ((stat.mode & OTHERS) !== 0) {
      try {
        chmodSync(path, stat.mode & 0o7777 & ~OTHERS)
      } catch {
        failed.push(path)
        return
      }
    }
    if (isRoot || !stat.isDirectory()) return
    for (const name of readdirSync(path)) visit(join(path, name), false)
  }
  visit(folder, true)
  for (const name of entries) visit(join(folder, name), false)
  return failed
}

/** As `makePrivate`, and logs what could not be changed. */
export function keepPrivate(folder: string, entries: readonly string[], log: Logger): void {
  const [path, ...more] = makePrivate(folder, entries)
  if (path !== undefined) log.warn({ path, more: more.length }, 'file permissions cannot be changed: other users may read them')
}

/** Entries of a workspace that this program creates. */
export const WORKSPACE_ENTRIES = [
  'plenum.db',
  'plenum.db-wal',
  'plenum.db-shm',
  'lock.db',
  'ballast',
  'config',
  'rules',
  'imports',
  '.restore',
  '.cache',
  'tenants',
]
/** Entries of an edge store that this program creates. */
export const EDGE_STORE_ENTRIES = ['ballast', 'outbox', 'priority', 'priority-scan.json']
