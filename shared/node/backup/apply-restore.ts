/** Puts a confirmed backup in the place of a workspace before anything of it is opened, and goes back where it does not open. */
import { existsSync, readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Logger } from 'pino'
import { makeFolder, syncFolder } from '../files.ts'
import { lockFolder } from '../folder-lock.ts'
import { ruleStatesIn } from '../rules/engine-states.ts'
import { DATABASE_FILE } from './archive.ts'
import {
  FOLDERS,
  newFolder,
  readRestore,
  restoreFolder,
  type RestorePlace,
  type RestoreState,
  writeRestore,
} from './staged-restore.ts'

/** A program that ended so often before all was open gets its workspace of before back. A power cut may end one or two. */
const STARTS_MAX = 3
const FOLDER_MODE = 0o700

/** A file or folder of a workspace, and its name below `new`, `old` and `failed`. */
type Part = { name: string; at: string }

/** The database comes last, so that a workspace whose history is not complete has none. */
function partsOf({ workspace, parquetRoot }: RestorePlace): Part[] {
  const folder = restoreFolder(workspace)
  const copies = [workspace, join(folder, 'old'), join(folder, 'failed')].flatMap(place =>
    existsSync(place) ? readdirSync(place).filter(name => name.startsWith(`${DATABASE_FILE}.v`)) : [],
  )
  return [
    ...FOLDERS.map(name => ({ name, at: name === 'parquet' ? parquetRoot : join(workspace, name) })),
    // States of the engine were derived from the history that is replaced.
    { name: 'rule-states', at: ruleStatesIn(workspace) },
    ...[...new Set(copies)].map(name => ({ name, at: join(workspace, name) })),
    ...[`${DATABASE_FILE}-wal`, `${DATABASE_FILE}-shm`, DATABASE_FILE].map(name => ({ name, at: join(workspace, name) })),
  ]
}

/**
 * Carries a restore on to its next phase. It may be killed at any instant: the next call goes on where it was.
 *
 * @throws Error that names the file that cannot be moved, or that another process has the workspace open
 */
export async function applyRestore(place: RestorePlace, log: Logger): Promise<void> {
  const { workspace } = place
  const state = readRestore(workspace)
  if (!state || !['confirmed', 'applied', 'undoing'].includes(state.phase)) return
  const unlock = lockFolder('the workspace', workspace)
  try {
    await carryOn(place, state, log)
  } finally {
    unlock()
  }
}

async function carryOn(place: RestorePlace, state: RestoreState, log: Logger): Promise<void> {
  const { workspace } = place
  const { about, starts = 0 } = state
  if (state.phase === 'confirmed') {
    await exchange(place, 'new', 'old')
    await writeRestore(workspace, { ...state, phase: 'applied', starts: 1 })
    log.warn({ created_at: about.created_at, version: about.version, by: state.by }, 'backup restored: opening it')
    return
  }
  if (state.phase === 'applied' && starts < STARTS_MAX) {
    await writeRestore(workspace, { ...state, starts: starts + 1 })
    return
  }
  await writeRestore(workspace, { ...state, phase: 'undoing' })
  await exchange(place, 'old', 'failed')
  await writeRestore(workspace, { ...state, phase: 'undone' })
  for (const name of ['failed', 'new']) await rm(join(restoreFolder(workspace), name), { recursive: true, force: true })
  log.error({ created_at: about.created_at, starts }, 'the restored backup did not open: the workspace of before is back')
}

/**
 * Moves what is in the workspace to one folder of the restore, and what is in another into the workspace, part by part. A part that
 * has left `from` is done; one that was moved aside already only has to be filled.
 */
async function exchange(place: RestorePlace, from: 'new' | 'old', aside: 'old' | 'failed'): Promise<void> {
  const folder = restoreFolder(place.workspace)
  await makeFolder(join(folder, aside), FOLDER_MODE)
  for (const { name, at } of partsOf(place)) {
    const [coming, going] = [join(folder, from, name), join(folder, aside, name)]
    const isDerived = !(FOLDERS as readonly string[]).includes(name) && name !== DATABASE_FILE
    // What was put in place has left `new`, and must not be moved aside again; on the way back what is aside already says so.
    const leaves = from === 'old' || existsSync(coming) || isDerived
    if (leaves && !existsSync(going)) {
      if (existsSync(at)) await move(at, going)
      // There was nothing: what comes back must not be taken for it when this is done again.
      else if (from === 'old' && existsSync(coming)) await makeFolder(going, FOLDER_MODE)
    }
    if (existsSync(coming)) {
      await makeFolder(dirname(at), FOLDER_MODE)
      await move(coming, at)
    }
  }
}

async function move(from: string, to: string): Promise<void> {
  await rename(from, to)
  syncFolder(dirname(to))
  syncFolder(dirname(from))
}

/**
 * Called when everything is open: what was replaced is removed.
 *
 * @returns the restore that is done now, for the audit; undefined where there is none
 */
export async function finishRestore(workspace: string): Promise<RestoreState | undefined> {
  const state = readRestore(workspace)
  if (state?.phase !== 'applied' && state?.phase !== 'done') return undefined
  if (state.phase === 'applied') await writeRestore(workspace, { ...state, phase: 'done' })
  for (const folder of [join(restoreFolder(workspace), 'old'), newFolder(workspace)])
    await rm(folder, { recursive: true, force: true })
  return state.phase === 'applied' ? state : undefined
}
