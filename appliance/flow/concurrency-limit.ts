/** Bounds how much happens at once, without letting those who take long keep the others waiting. */
import type { Clock } from '#shared/core/ports.ts'

/**
 * Lets `max` tasks run at a time; the others wait in the order they came. A task that takes longer than `holdMs` gives
 * its place to the next while it goes on: it waits itself, for somebody who does not answer.
 */
export function slots(max: number, holdMs: number, clock: Clock): <T>(task: () => Promise<T>) => Promise<T> {
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
