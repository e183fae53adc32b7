/** What a process keeps on disk is for its own user alone: folders 700, files 600, whatever the umask of whoever starts it. */
import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from 'pino'

/** Everybody but the owner. */
const OTHERS = 0o077

/**
 * From now on nothing that this process or one of its children makes can be read by others, by whatever library it is made: a
 * database with its journals, Parquet files, uploads, sockets. Called once, before anything is opened.
 */
export const keepFilesPrivate = (): void => void process.umask(OTHERS)

/**
 * Takes the permissions of others off a folder and off what an earlier version, or somebody by hand, has left in it.
 *
 * @param entries of the folder that are looked through, with all that is in them: a folder may hold what is not ours
 * @returns paths whose permissions could not be changed; they belong to another user or lie on a disk that has none
 */
function makePrivate(folder: string, entries: readonly string[]): string[] {
  const failed: string[] = []
  const visit = (path: string, isRoot: boolean): void => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    // A link leads to what is somebody else's.
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

/** What lies in a workspace and is ours. */
export const WORKSPACE_ENTRIES = [
  'plenum.db',
  'plenum.db-wal',
  'plenum.db-shm',
  'lock.db',
  'ballast',
  'config',
  'rules',
  'imports',
  '.cache',
]
/** What lies in an edge store and is ours. */
export const EDGE_STORE_ENTRIES = ['ballast', 'outbox', 'priority', 'priority-scan.json']
