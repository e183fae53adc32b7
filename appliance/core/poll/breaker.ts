/** Circuit breaker of a device: after a failed read polling pauses, so that a dead device takes no time from the others. */
import { MINUTE, SECOND } from '#shared/core/time.ts'

/** `retryAt` null: the device answers and is polled as planned. */
export type Breaker = { readonly failures: number; readonly retryAt: number | null; readonly since: number }

const FIRST_MS = 5 * SECOND
const MOST_MS = MINUTE

export const closedBreaker = (now: number): Breaker => ({ failures: 0, retryAt: null, since: now })

/** Applies a read that failed as a whole: the pause doubles from 5 s to a minute. */
export function tripBreaker(breaker: Breaker, now: number): Breaker {
  const pause = Math.min(MOST_MS, FIRST_MS * 2 ** breaker.failures)
  return { failures: breaker.failures + 1, retryAt: now + pause, since: breaker.retryAt === null ? now : breaker.since }
}
