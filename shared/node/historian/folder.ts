import { errorText } from '#shared/core/error-text.ts'
import { accessSync, constants, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, replaceFile, syncFolder } from '../files.ts'

/** Says which database the folder belongs to. */
export const OWNER = 'history.id'
/** Where DuckDB spills and packages are staged; emptied at start. */
export const SCRATCH = '.scratch'
/** Where the batches of one load are staged. */
export const stageFolder = (root: string, folder: string): string => join(root, SCRATCH, folder)
export const stageFile = (root: string, folder: string, n: number): string =>
  join(stageFolder(root, folder), `${String(n).padStart(6, '0')}.parquet`)

const PART = /^building_id=[^/]+\/month=\d{4}-\d{2}\/\d+-\d+\.parquet(\.tmp)?$/
/** Whether an entry of the history folder is ours. */
export const isHistoryEntry = (name: string): boolean => name === OWNER || name === SCRATCH || name.startsWith('building_id=')
/** Files that a complaint names. */
const NAMED_MAX = 5

/** The UTC month of an instant, `2026-03`. */
export const monthOf = (t: number): string => new Date(t).toISOString().slice(0, 7)

/** `[from, to)` of a month. */
export function monthSpan(month: string): { from: number; to: number } {
  const from = new Date(`${month}-01T00:00:00Z`)
  return { from: from.getTime(), to: new Date(from).setUTCMonth(from.getUTCMonth() + 1) }
}

/** The name of a part below the history folder; `rank` and `n` make it unique for ever. */
export function partFile(building_id: string, month: string, rank: number, n: number): string {
  const name = `${String(rank).padStart(8, '0')}-${String(n).padStart(3, '0')}.parquet`
  return `building_id=${encodeURIComponent(building_id)}/month=${month}/${name}`
}

/**
 * Makes the folder ready: removes what a crash has left, and refuses a folder that cannot be written, belongs to
 * another database, or lacks a listed file.
 *
 * @param listed the manifest
 * @returns how many unlisted files were removed
 * @throws Error that names the folder and what is wrong
 */
export async function readyFolder(root: string, owner: string, listed: { file: string; bytes: number }[]): Promise<number> {
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
      `the history in ${root} is not whole: ${wrong.slice(0, NAMED_MAX).join(', ')}${more}; restore it from a backup`,
    )
  }
  const known = new Set(listed.map(({ file }) => file))
  const orphans = found.filter(name => !known.has(name))
  for (const name of orphans) rmSync(join(root, name))
  return orphans.length
}

/** A database that was lost and made anew must not clear away the files of the old one. */
async function claim(root: string, owner: string, hasParts: boolean): Promise<void> {
  const path = join(root, OWNER)
  const known = statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, 'utf8').trim() : undefined
  if (known === owner) return
  if (known !== undefined || hasParts) {
    throw new Error(
      `the history folder ${root} belongs to another database: restore both from one backup, or give an empty folder`,
    )
  }
  await replaceFile(path, `${owner}\n`)
}

/** Removes files that the manifest no longer lists. One that stays is removed at the next start. */
export function removeParts(root: string, files: string[]): void {
  for (const file of files) rmSync(join(root, file), { force: true })
  for (const folder of new Set(files.map(file => join(root, file, '..')))) syncFolder(folder)
}
