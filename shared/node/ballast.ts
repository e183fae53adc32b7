/**
 * A file that is emptied when the disk is full, so that the most important writes still succeed: sequence marks, deletes,
 * unlinking, the checkpoint of the database. Readings wait meanwhile; they would otherwise use the freed space. Where that was not
 * enough, what can be made again is deleted too.
 */
import { randomFillSync } from 'node:crypto'
import { existsSync, rmSync, statfsSync, statSync, truncateSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Logger } from 'pino'
import { errorText } from '#shared/core/error-text.ts'
import { SECOND } from '#shared/core/time.ts'
import { syncFolder } from './files.ts'
import type { Service } from './service.ts'

const FILE = 'ballast'
const MB = 2 ** 20
/**
 * Size for a workspace: deleting one day of 5,000 points a minute writes 20 MB to the log of the database before a
 * checkpoint, and the log of a running transaction may be as large again.
 */
export const WORKSPACE_BALLAST = 32 * MB
/** Size for an edge store: two segments of a log, 4 MB each, which are written before older ones can be unlinked. */
export const EDGE_STORE_BALLAST = 8 * MB
/** The disk is full when less than this share of the ballast is free: a log of 4 MB, at which SQLite makes a checkpoint. */
const FULL_SHARE = 1 / 8
const CHECK_MS = 5 * SECOND
const CHUNK = MB

export type Ballast = Service & {
  /** Empties it where the disk is full already: without some bytes no database can be opened. */
  makeRoom(): void
  /** Checks the disk now, as the service does every 5 s. */
  check(): Promise<void>
  isGivenUp(): boolean
  /** @throws Error with the code ENOSPC while the ballast is empty */
  needRoom(): void
}

type BallastOptions = {
  folder: string
  bytes: number
  /** Folders that may be deleted at any time, because their content is made again. */
  derived?: string[]
  log: Logger
}

/** The function is long because every check compares the file, the disk and what was logged. */
export function ballast({ folder, bytes, derived = [], log }: BallastOptions): Ballast {
  const path = join(folder, FILE)
  const fullBytes = bytes * FULL_SHARE
  let givenUp = statSync(path, { throwIfNoEntry: false })?.size === 0
  let checking: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  }
  const isFull = () => freeBytes() < fullBytes
  const size = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const drop = () => {
    rmSync(path, { force: true })
    syncFolder(folder)
  }

  /** @returns whether there was space */
  const create = async (): Promise<boolean> => {
    if (freeBytes() + size() < 2 * bytes + fullBytes) return false
    drop()
    try {
      await writeRandom(path, bytes)
      return true
    } catch (error) {
      if (givenUp) truncateSync(path)
      else drop()
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
      throw error
    }
  }

  /** The empty file tells the next start that readings wait: they would use what it gave away. */
  const giveUp = () => {
    truncateSync(path)
    givenUp = true
    log.error({ path, bytes }, 'disk full: ballast given up, readings wait until there is space')
  }
  const dropDerived = () => {
    const folders = derived.filter(existsSync)
    for (const one of folders) rmSync(one, { recursive: true, force: true })
    if (folders.length > 0) log.warn({ folders }, 'disk full: what can be made again is deleted')
  }

  const checkOnce = async () => {
    if (size() > 0 && isFull()) giveUp()
    else if (size() < bytes && (await create())) {
      if (givenUp) log.info({ path }, 'disk has space again: readings are stored')
      givenUp = false
    } else if (size() === 0 && isFull()) {
      if (!givenUp) log.error({ path }, 'disk full: no space for the ballast, readings wait until there is space')
      givenUp = true
      dropDerived()
    }
  }
  const check = () => (checking ??= checkOnce().finally(() => (checking = undefined)))
  const checkQuietly = () => check().catch(error => log.debug(`ballast check failed: ${errorText(error)}`))

  return {
    name: 'ballast',
    async start() {
      timer = setInterval(() => void checkQuietly(), CHECK_MS).unref()
      await checkQuietly()
    },
    async stop() {
      clearInterval(timer)
      await checking?.catch(() => undefined)
    },
    makeRoom() {
      if (isFull() && size() > 0) giveUp()
      if (isFull()) dropDerived()
    },
    check,
    isGivenUp: () => givenUp,
    needRoom() {
      if (!givenUp) return
      throw Object.assign(new Error('the disk is full: readings wait until there is space'), { code: 'ENOSPC' })
    },
  }
}

/** Writes random bytes, because a file system with compression would reserve no space for zeros. */
async function writeRandom(path: string, bytes: number): Promise<void> {
  await using file = await open(path, 'wx', 0o600)
  const chunk = Buffer.alloc(Math.min(CHUNK, bytes))
  for (let at = 0; at < bytes; at += chunk.length) {
    await file.write(randomFillSync(chunk), 0, Math.min(chunk.length, bytes - at))
  }
  await file.datasync()
}
