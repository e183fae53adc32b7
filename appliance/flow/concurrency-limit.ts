/** Bounds the tasks that run at once; slow tasks release their slot early. */
import type { Clock } from '#shared/core/ports.ts'

/**
 * Runs `max` tasks at a time; the others wait in the order of their calls. A task that takes longer than `holdMs` releases its
 * slot while it continues: it waits for a device that does not answer.
 */
export function createConcurrencyLimit(max: number, holdMs: number, clock: Clock): <T>(task: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let free = max
  const release = () => {
    const next = waiting.shift()
    if (next) next()
    else free++
  }
  return async task => {
    if (free === 0) await new Promise<void>(resolve => waiting.push(resolve))
    else free--
    const over = new AbortController()
    let holds = true
    const leave = () => {
      if (holds) release()
      holds = false
    }
    void clock.sleep(holdMs, over.signal).then(leave)
    try {
      return await task()
    } finally {
      over.abort()
      leave()
    }
  }
}
