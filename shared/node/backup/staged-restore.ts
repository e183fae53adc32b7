/** A backup that was uploaded to replace a workspace: unpacked and checked beside it, until a person confirms it. */
import { existsSync, readFileSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import { makeFolder, replaceFile, syncFolder } from '../files.ts'
import { type Database, openDatabase } from '../sqlite.ts'
import { type BackupAbout, DATABASE_FILE } from './archive.ts'
import { BackupError } from './encryption.ts'
import { type Holdings, holdingsOf } from './holdings.ts'
import { unpackBackup } from './restore.ts'
import { checkUnpacked } from './verify.ts'

/** Folder of a restore in a workspace: the upload, what was unpacked, what was replaced, and the state. */
const RESTORE_FOLDER = '.restore'
const STATE = 'state.json'
const FOLDER_MODE = 0o700

/**
 * `staged`: checked, waits for a person. `confirmed`: replaces the workspace at the next start. `applied`: has replaced it, and has not
 * run until all was open yet. `undoing`: goes back. `done`: has run. `undone`: the workspace is as it was.
 */
type RestorePhase = 'staged' | 'confirmed' | 'applied' | 'undoing' | 'done' | 'undone'
export type RestoreState = {
  phase: RestorePhase
  about: BackupAbout
  holds: Holdings
  /** Who confirmed it, and when, ms. */
  by?: string
  at?: number
  /** Starts since it was applied. */
  starts?: number
}

/** Where a workspace has its parts. */
export type RestorePlace = { workspace: string; parquetRoot: string }

export const restoreFolder = (workspace: string): string => join(workspace, RESTORE_FOLDER)
export const newFolder = (workspace: string): string => join(restoreFolder(workspace), 'new')

/** @returns undefined where nothing was uploaded */
export function readRestore(workspace: string): RestoreState | undefined {
  const path = join(restoreFolder(workspace), STATE)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as RestoreState) : undefined
}

export const writeRestore = (workspace: string, state: RestoreState): Promise<void> =>
  replaceFile(join(restoreFolder(workspace), STATE), JSON.stringify(state), 0o600)

/** Removes what was uploaded, and what an earlier restore has left. */
export async function dropRestore(workspace: string): Promise<void> {
  const folder = restoreFolder(workspace)
  // Without its state the rest is nothing that a start looks at.
  await rm(join(folder, STATE), { force: true })
  if (existsSync(folder)) syncFolder(folder)
  await rm(folder, { recursive: true, force: true })
}

/** @returns the path of the file for an upload, in a folder without an earlier one */
export async function beginUpload(workspace: string): Promise<string> {
  await dropRestore(workspace)
  await makeFolder(restoreFolder(workspace), FOLDER_MODE)
  return join(restoreFolder(workspace), 'upload')
}

/**
 * Unpacks an upload, checks it as a verified backup is checked, and opens its database, which brings the tables of an earlier version
 * up to date. What is left is what the next start puts in place.
 *
 * @param refuse throws for a backup of something else; gets the folder with its files
 * @throws BackupError, or an Error that names the file that cannot be written
 */
export async function stageUpload(
  { workspace, parquetRoot }: RestorePlace,
  passphrase: string,
  refuse: (about: BackupAbout, folder: string) => void,
): Promise<RestoreState> {
  const [own, history] = [await stat(workspace), await stat(existsSync(parquetRoot) ? parquetRoot : dirname(parquetRoot))]
  if (own.dev !== history.dev) throw new BackupError('the history is on another disk than the workspace')
  const folder = newFolder(workspace)
  const about = await unpackBackup(join(restoreFolder(workspace), 'upload'), passphrase, folder)
  refuse(about, folder)
  await checkUnpacked(folder)
  // A part that the backup does not have is replaced by an empty one.
  for (const name of FOLDERS) await makeFolder(join(folder, name), FOLDER_MODE)
  const db = openStaged(join(folder, DATABASE_FILE))
  const holds = holdingsOf(db, folder)
  db.close()
  if (existsSync(join(folder, `${DATABASE_FILE}-wal`))) throw new BackupError('the database in the backup is still open')
  await rm(join(restoreFolder(workspace), 'upload'))
  const state: RestoreState = { phase: 'staged', about, holds }
  await writeRestore(workspace, state)
  return state
}

function openStaged(path: string): Database {
  try {
    return openDatabase(path)
  } catch (error) {
    const why = errorText(error)
    throw new BackupError(
      /newer version/.test(why)
        ? 'the backup was written by a newer version of this program'
        : `its database cannot be opened: ${why}`,
      { cause: error },
    )
  }
}

/** Folders of a workspace that a backup replaces as a whole. */
export const FOLDERS = ['config', 'rules', 'parquet'] as const
