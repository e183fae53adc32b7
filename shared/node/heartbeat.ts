/** A file that is written while a process works, for whoever starts it anew when it hangs. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Logger } from 'pino'
import { SECOND } from '#shared/core/time.ts'
import type { Service } from './service.ts'

/** The setting of every process that can be watched by its heartbeat. */
export const SERVICE_HEARTBEAT_FILE = {
  kind: 'text',
  doc: 'written every 20 s while the process works; whoever watches it starts the process anew when it grows old',
} as const

const EVERY_MS = 20 * SECOND

/**
 * Writes the time into a file every 20 s, for as long as the event loop turns and the process does what it is for.
 *
 * @param file undefined: nobody watches, and nothing is written
 * @param isAlive false: the file grows old
 */
export function heartbeatService(file: string | undefined, isAlive: () => boolean, log: Logger, everyMs = EVERY_MS): Service {
  let timer: NodeJS.Timeout | undefined
  let hasFailed = false
  const beat = async () => {
    if (file === undefined || !isAlive()) return
    try {
      await writeFile(file, `${new Date().toISOString()}\n`)
      hasFailed = false
    } catch (error) {
      if (!hasFailed) log.warn({ err: error, file }, 'the heartbeat cannot be written: the process may be started anew')
      hasFailed = true
    }
  }
  return {
    name: 'heartbeat',
    async start() {
      if (file === undefined) return
      await mkdir(dirname(file), { recursive: true })
      await beat()
      timer = setInterval(() => void beat(), everyMs)
      timer.unref()
    },
    async stop() {
      clearInterval(timer)
    },
  }
}
