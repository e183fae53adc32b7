import type { Clock } from '#shared/core/ports.ts'

type Sleeper = { at: number; order: number; wake: () => void }

/** Runs everything that does not wait for time. */
const settle = () => new Promise<void>(resolve => setImmediate(resolve))

/** A clock that stands still until it is advanced; a day of polling takes a moment. */
export function virtualClock(start: number): Clock & { runTo(until: number): Promise<void> } {
  let now = start
  let order = 0
  const sleepers = new Set<Sleeper>()
  return {
    now: () => now,
    sleep(ms, signal) {
      if (ms <= 0 || signal?.aborted) return Promise.resolve()
      return new Promise(resolve => {
        const wake = () => {
          sleepers.delete(sleeper)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        const sleeper: Sleeper = { at: now + ms, order: order++, wake }
        sleepers.add(sleeper)
        signal?.addEventListener('abort', wake, { once: true })
      })
    },
    async runTo(until) {
      await settle()
      for (;;) {
        const next = earliest(sleepers)
        if (!next || next.at > until) break
        now = Math.max(now, next.at)
        next.wake()
        await settle()
      }
      now = until
    },
  }
}

function earliest(sleepers: Iterable<Sleeper>): Sleeper | undefined {
  let first: Sleeper | undefined
  for (const one of sleepers) {
    if (!first || one.at < first.at || (one.at === first.at && one.order < first.order)) first = one
  }
  return first
}
