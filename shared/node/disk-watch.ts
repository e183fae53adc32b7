import { statfs } from 'node:fs/promises'
import type { Logger } from 'pino'
import { diskLevel, type DiskSpace, usedPercent } from '#shared/core/disk-use.ts'
import { MINUTE } from '#shared/core/time.ts'
import { repeated } from './repeated.ts'
import type { Service } from './service.ts'

/** @param folder any folder on the disk */
export async function diskSpace(folder: string): Promise<DiskSpace> {
  const { bavail, blocks, bsize } = await statfs(folder)
  return { free_bytes: bavail * bsize, total_bytes: blocks * bsize }
}

/** Logs once when the disk reaches 80, 90 and 95 %, and when it is below all of them again. */
export function diskWatch(
  { read, log }: { read: () => Promise<DiskSpace>; log: Logger },
  everyMs = MINUTE,
): Service & { look(): Promise<void> } {
  let logged: number | undefined

  async function look(): Promise<void> {
    const used = usedPercent(await read())
    const level = diskLevel(used)
    if (level === logged) return
    if (level === undefined) log.info({ used_percent: used }, 'disk: below 80 % again')
    else if (logged === undefined || level > logged)
      log.warn({ used_percent: used }, `disk: ${level} % are reached, see the page System`)
    logged = level
  }
  const warn = (error: unknown) => log.warn({ err: error }, 'disk: its space cannot be read')
  const { run, start, stop } = repeated(() => look().catch(warn), everyMs)
  return {
    name: 'disk',
    look: run,
    async start() {
      await run()
      start()
    },
    stop,
  }
}
