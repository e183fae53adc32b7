/**
 * A file that is given up when the disk is full, so that what must be written still can be: sequence marks, deletes, unlinking, the
 * checkpoint of the database. Readings wait meanwhile, or they would take that room as well.
 */
import { randomFillSync } from 'node:crypto'
import { rmSync, statfsSync, statSync } from 'node:fs'
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
 * Of a workspace: deleting a day of rows of 5,000 points a minute leaves 20 MB in the database's log before a checkpoint can fold it
 * in, and the log of a transaction that is under way may be as large again.
 */
export const WORKSPACE_BALLAST = 32 * MB
/** Of an edge store: two segments of a log, 4 MB each, which are written before older ones can be unlinked. */
export const EDGE_STORE_BALLAST = 8 * MB
/** The disk counts as full below this share of the ballast: a log of 4 MB, which is when SQLite makes a checkpoint. */
const FULL_SHARE = 1 / 8
const LOOK_MS = 5 * SECOND
const CHUNK = MB

export type Ballast = Service & {
  /** Looks at the disk now, as it does by itself every 5 s. */
  look(): Promise<void>
  isGivenUp(): boolean
  /** @throws Error with the code ENOSPC while it is given up */
  needRoom(): void
}

export function ballast({ folder, bytes, log }: { folder: string; bytes: number; log: Logger }): Ballast {
  const path = join(folder, FILE)
  const fullBytes = bytes * FULL_SHARE
  let givenUp = false
  let looking: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  const freeBytes = () => {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  }
  const held = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  const drop = () => {
    rmSync(path, { force: true })
    syncFolder(folder)
  }

  /** Random bytes: a file system that packs would keep nothing of zeros. @returns whether there was room */
  const make = async (): Promise<boolean> => {
    drop()
    if (freeBytes() < 2 * bytes + fullBytes) return false
    try {
      await using file = await open(path, 'wx', 0o600)
      const chunk = Buffer.alloc(Math.min(CHUNK, bytes))
      for (let at = 0; at < bytes; at += chunk.length) {
        await file.write(randomFillSync(chunk), 0, Math.min(chunk.length, bytes - at))
      }
      await file.datasync()
      return true
    } catch (error) {
      drop()
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
      throw error
    }
  }

  const lookOnce = async () => {
    const isThere = held() === bytes
    if (isThere && freeBytes() < fullBytes) {
      drop()
      givenUp = true
      log.error({ path, bytes }, 'disk full: ballast given up, readings wait until there is room')
    } else if (!isThere && (await make())) {
      if (givenUp) log.info({ path }, 'disk has room again: readings are stored')
      givenUp = false
    } else if (!isThere && freeBytes() < fullBytes && !givenUp) {
      givenUp = true
      log.error({ path }, 'disk full: no room for the ballast, readings wait until there is room')
    }
  }
  const look = () => (looking ??= lookOnce().finally(() => (looking = undefined)))
  const lookAgain = () => look().catch(error => log.debug(`the ballast cannot be looked after: ${errorText(error)}`))

  return {
    name: 'ballast',
    async start() {
      timer = setInterval(() => void lookAgain(), LOOK_MS).unref()
      await lookAgain()
    },
    async stop() {
      clearInterval(timer)
      await looking?.catch(() => undefined)
    },
    look,
    isGivenUp: () => givenUp,
    needRoom() {
      if (!givenUp) return
      throw Object.assign(new Error('the disk is full: readings wait until there is room'), { code: 'ENOSPC' })
    },
  }
}
