import { setTimeout as wait } from 'node:timers/promises'
import type { SiteProcess } from './process.ts'

/** For so long the hub shows a box that is silent. */
const SILENT_MS = 30_000

type ReturningPart = {
  /** As it runs now, or ran last. */
  now(): SiteProcess
  /** Settles when it has ended by itself. */
  broken: Promise<SiteProcess>
  stop(): Promise<void>
}

/**
 * A part that comes back when somebody has killed it, as a machine does after a power cut.
 *
 * @param start starts it, also later
 * @param tell is told in a sentence that it is gone, and that it is back
 */
export function returningPart(start: () => SiteProcess, tell: (line: string) => void): ReturningPart {
  const stopped = new AbortController()
  let part = start()

  async function untilBroken(): Promise<SiteProcess> {
    for (;;) {
      const how = await part.ended
      if (!part.wasKilled() || stopped.signal.aborted) return part
      tell(`The ${part.name} ${how}. The hub goes on; the ${part.name} comes back in ${SILENT_MS / 1000} s.`)
      await wait(SILENT_MS, undefined, { signal: stopped.signal }).catch(() => undefined)
      if (stopped.signal.aborted) return part
      part = start()
      tell(`The ${part.name} starts again.`)
    }
  }
  return {
    now: () => part,
    broken: untilBroken(),
    async stop() {
      stopped.abort()
      await part.stop()
    },
  }
}
