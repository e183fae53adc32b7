import type { Clock } from '#shared/core/ports.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'

/** How often the trigger file is looked for. */
const LOOK_MS = MINUTE

export type SchedulePorts = {
  clock: Clock
  /** Read anew at each look, so that a change counts within a minute. */
  intervalHours: () => number
  /** When rules ran last, ms; undefined when they never did. */
  lastRunAt: () => number | undefined
  /** Whether the trigger file is there; it is gone when this resolves. */
  takeTrigger: () => Promise<boolean>
  /** Runs every building. It never rejects: what fails is told where it fails. */
  runAll: (trigger: 'schedule' | 'file') => Promise<void>
}

/**
 * Runs rules one interval after they ran last, also across restarts, and at once when the trigger file appears; each
 * run resets the timer. Rules that never ran come one interval after the start: then there is something to look at.
 *
 * @param signal ends the loop
 */
export async function scheduleFdd(ports: SchedulePorts, signal: AbortSignal): Promise<void> {
  const { clock, intervalHours, lastRunAt, takeTrigger, runAll } = ports
  let since = Math.min(lastRunAt() ?? clock.now(), clock.now())
  while (!signal.aborted) {
    // A clock that was set back must not put the next run off for as long.
    since = Math.min(since, clock.now())
    const triggered = await takeTrigger()
    const dueIn = since + intervalHours() * HOUR - clock.now()
    if (triggered || dueIn <= 0) {
      await runAll(triggered ? 'file' : 'schedule')
      since = clock.now()
    } else await clock.sleep(Math.min(LOOK_MS, dueIn), signal)
  }
}
