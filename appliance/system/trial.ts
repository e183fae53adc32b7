/** An update on trial: while it lacks something, words for the system of the box, which otherwise only knows that it is not well. */
import type { Logger } from 'pino'
import type { HealthCheck } from '#shared/central/context.ts'
import { SECOND } from '#shared/core/time.ts'
import type { Service } from '#shared/node/service.ts'
import type { Updates } from './updates.ts'

const EVERY_MS = 10 * SECOND

/**
 * Writes what fails for as long as the running version is on trial; the confirming service of the image adds it to the reason for
 * which it goes back.
 *
 * @param version the one that runs
 */
export function trialService(
  parts: {
    updates: Pick<Updates, 'healthBefore' | 'noteTrial'>
    version: string
    checks: () => Promise<Record<string, HealthCheck>>
    log: Logger
  },
  everyMs = EVERY_MS,
): Service {
  const { updates, version, checks, log } = parts
  let timer: NodeJS.Timeout | undefined
  let noted: string | undefined
  let looking = Promise.resolve()

  async function look(): Promise<void> {
    if (!updates.healthBefore(version)) return clearInterval(timer)
    const words = Object.entries(await checks())
      .filter(([, { status }]) => status === 'fail')
      .map(([name, { detail }]) => (detail === undefined ? name : `${name}: ${detail}`))
      .join('. ')
    if (words === noted) return
    await updates.noteTrial(words)
    noted = words
    if (words !== '') log.warn({ words }, 'update on trial: it is not well, and is left unless that changes')
  }
  const lookSafely = () =>
    look().catch((error: unknown) => log.warn({ err: error }, 'update on trial: what it lacks cannot be written'))

  return {
    name: 'trial',
    async start() {
      if (!updates.healthBefore(version)) return
      timer = setInterval(() => {
        looking = looking.then(lookSafely)
      }, everyMs)
      timer.unref()
    },
    async stop() {
      clearInterval(timer)
      await looking
    },
  }
}
