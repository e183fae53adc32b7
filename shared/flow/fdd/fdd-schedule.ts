import type { Clock } from '#shared/core/ports.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'

/** How often to check for the trigger file. */
const LOOK_MS = MINUTE

type SchedulePorts = {
  clock: Clock
  /** Read at each check, so that a change takes effect within a minute. */
  intervalHours: () => number
  /** When rules ran last, ms; undefined when they never did. */
  lastRunAt: () => number | undefined
  /** Whether the trigger file exists; it has been removed when this resolves. */
  takeTrigger: () => Promise<boolean>
  /** Writes the trigger file again. It never rejects. */
  askAgain: () => Promise<void>
  /**
   * Runs every building. It never rejects; failures are logged where they occur.
   *
   * @returns false when the process stops meanwhile, or nothing can run yet
   */
  runAll: (trigger: 'schedule' | 'file') => Promise<boolean>
}

/**
 * Runs rules one interval after the last run, also across restarts, and at once when the trigger file appears; each run
 * resets the timer. Rules that have never run start one interval after the process, when there is data. What was asked for and could not
 * run is asked for again, for this process or the next one.
 */
export async function scheduleFdd(ports: SchedulePorts, signal: AbortSignal): Promise<void> {
  const { clock, intervalHours, lastRunAt, takeTrigger, askAgain, runAll } = ports
  let since = Math.min(lastRunAt() ?? clock.now(), clock.now())
  while (!signal.aborted) {
    // A clock that was set back must not delay the next run.
    since = Math.min(since, clock.now())
    const triggered = await takeTrigger()
    const dueIn = since + intervalHours() * HOUR - clock.now()
    if (triggered || dueIn <= 0) {
      const hasRun = await runAll(triggered ? 'file' : 'schedule')
      if (hasRun) since = clock.now()
      else {
        if (triggered) await askAgain()
        await clock.sleep(LOOK_MS, signal)
      }
    } else await clock.sleep(Math.min(LOOK_MS, dueIn), signal)
  }
}
