/** Copies a workspace as it is at one moment, beside its writers. */
import { link, readdir, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../files.ts'
import { OWNER, SCRATCH } from '../historian/folder.ts'
import type { StoredHistorian } from '../historian/historian.ts'
import { openManifest } from '../historian/manifest.ts'
import { type Database, openReadOnly } from '../sqlite.ts'
import { type BackupFile, DATABASE_FILE, HISTORY_PREFIX } from './archive.ts'

export type WorkspaceSource = {
  /** Folder of the workspace. */
  path: string
  parquetRoot: string
  db: Database
  historian: Pick<StoredHistorian, 'withFilesUnchanged'>
}
type WorkspaceCopy = {
  files: BackupFile[]
  /** Removes the copies. */
  remove(): Promise<void>
}

/** Files of the workspace beside database and history, by folder. */
const SETTINGS = [
  { folder: '', pattern: /^auth\.env\.local$/ },
  { folder: 'config', pattern: /^[\w-][\w.-]*\.json$/ },
  { folder: 'rules', pattern: /^[\w-][\w.-]*\.ya?ml$/ },
]

/**
 * Copies the database and links the history files that it lists, while no history file is written or removed. A copy takes the
 * space of the database; links take none.
 *
 * @param name of the copies' folder; one that a crash has left is removed when history is opened
 * @throws Error when the disk is full
 */
export async function copyWorkspace({ path, parquetRoot, db, historian }: WorkspaceSource, name: string): Promise<WorkspaceCopy> {
  const folder = join(parquetRoot, SCRATCH, name)
  const remove = () => rm(folder, { recursive: true, force: true })
  try {
    await makeFolder(folder)
    const database = join(folder, DATABASE_FILE)
    const names = await historian.withFilesUnchanged(async () => {
      await db.backup(database)
      const listed = [OWNER, ...listedFiles(database)]
      for (const file of listed) {
        await makeFolder(dirname(join(folder, HISTORY_PREFIX, file)))
        await link(join(parquetRoot, file), join(folder, HISTORY_PREFIX, file))
      }
      return listed.map(file => HISTORY_PREFIX + file)
    })
    const copied = [DATABASE_FILE, ...names].map(entry => ({ name: entry, path: join(folder, entry) }))
    const files: BackupFile[] = []
    for (const file of [...copied, ...(await settingsFiles(path))]) files.push({ ...file, bytes: (await stat(file.path)).size })
    return { files, remove }
  } catch (error) {
    await remove()
    throw error
  }
}

function listedFiles(database: string): string[] {
  const copy = openReadOnly(database)
  try {
    return openManifest(copy)
      .files()
      .map(({ file }) => file)
  } finally {
    copy.close()
  }
}

async function settingsFiles(workspace: string): Promise<Pick<BackupFile, 'name' | 'path'>[]> {
  const found: Pick<BackupFile, 'name' | 'path'>[] = []
  for (const { folder, pattern } of SETTINGS) {
    const entries = await readdir(join(workspace, folder), { withFileTypes: true }).catch(() => [])
    const names = entries.filter(entry => entry.isFile() && pattern.test(entry.name)).map(entry => join(folder, entry.name))
    found.push(...names.toSorted().map(name => ({ name, path: join(workspace, name) })))
  }
  return found
}
