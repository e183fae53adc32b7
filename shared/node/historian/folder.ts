import { errorText } from '#shared/core/error-text.ts'
import { accessSync, constants, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, replaceFile, syncFolder } from '../files.ts'

/** File with the id of the database to which the folder belongs. */
export const OWNER = 'history.id'
/** Folder where DuckDB spills data and packages are staged; emptied at start. */
export const SCRATCH = '.scratch'
/** File with the staged rows of one load. */
export const stageFile = (root: string, name: string): string => join(root, SCRATCH, `${name}.staged`)

const PART = /^building_id=[^/]+\/month=\d{4}-\d{2}\/\d+-\d+\.parquet(\.tmp)?$/
/** Whether an entry of the history folder was written by this program. */
export const isHistoryEntry = (name: string): boolean => name === OWNER || name === SCRATCH || name.startsWith('building_id=')
/** Maximum number of files that an error message names. */
const NAMED_MAX = 5

/** The default folder of sealed history. */
export const parquetRootIn = (workspace: string): string => join(workspace, '.cache', 'parquet')

/** The UTC month of an instant, `2026-03`. */
export const monthOf = (t: number): string => new Date(t).toISOString().slice(0, 7)

/** `[from, to)` of a month. */
export function monthSpan(month: string): { from: number; to: number } {
  const from = new Date(`${month}-01T00:00:00Z`)
  return { from: from.getTime(), to: new Date(from).setUTCMonth(from.getUTCMonth() + 1) }
}

/** The name of a part below the history folder; `rank` and `n` make it unique. */
export function partFile(building_id: string, month: string, rank: number, n: number): string {
  const name = `${String(rank).padStart(8, '0')}-${String(n).padStart(3, '0')}.parquet`
  return `building_id=${encodeURIComponent(building_id)}/month=${month}/${name}`
}

/**
 * Prepares the folder: removes files that a crash has left, and refuses a folder that cannot be written, belongs to another
 * database, or lacks a listed file.
 *
 * @param listed the manifest
 * @returns how many unlisted files were removed
 * @throws Error that names the folder and the reason
 */
export async function prepareFolder(root: string, owner: string, listed: { file: string; bytes: number }[]): Promise<number> {
  try {
    await makeFolder(root)
    accessSync(root, constants.R_OK | constants.W_OK)
    rmSync(join(root, SCRATCH), { recursive: true, force: true })
    await makeFolder(join(root, SCRATCH))
  } catch (error) {
    throw new Error(`the history folder ${root} cannot be written: ${errorText(error)}`, { cause: error })
  }
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(name => PART.test(name))
  await claim(root, owner, found.length > 0)

  const wrong = listed.flatMap(({ file, bytes }) => {
    const size = statSync(join(root, file), { throwIfNoEntry: false })?.size
    if (size === bytes) return []
    return [size === undefined ? `${file} is missing` : `${file} has ${size} bytes where ${bytes} were written`]
  })
  if (wrong.length) {
    const more = wrong.length > NAMED_MAX ? ` and ${wrong.length - NAMED_MAX} more` : ''
    throw new Error(
      `the history in ${root} is incomplete: ${wrong.slice(0, NAMED_MAX).join(', ')}${more}; restore it from a backup`,
    )
  }
  const known = new Set(listed.map(({ file }) => file))
  const orphans = found.filter(name => !known.has(name))
  for (const name of orphans) rmSync(join(root, name))
  return orphans.length
}

/** Refuses the folder of another database: a database that was lost and created again must not delete its files. */
async function claim(root: string, owner: string, hasParts: boolean): Promise<void> {
  const path = join(root, OWNER)
  const known = statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, 'utf8').trim() : undefined
  if (known === owner) return
  if (known !== undefined || hasParts) {
    throw new Error(
      `the history folder ${root} belongs to another database: restore both from one backup, or use an empty folder`,
    )
  }
  await replaceFile(path, `${owner}\n`)
}

/** Removes files that the manifest no longer lists, when that can no longer be taken back. */
export type RemoveParts = (files: string[]) => Promise<void>

/** Removes files that the manifest no longer lists. A file that cannot be removed is removed at the next start. */
export function removeParts(root: string, files: string[]): void {
  for (const file of files) rmSync(join(root, file), { force: true })
  for (const folder of new Set(files.map(file => join(root, file, '..')))) syncFolder(folder)
}
