/** Keeps a dead device from taking the time of the living: it is left alone for a while between tries. */
import { MINUTE, SECOND } from '#shared/core/time.ts'

/** `retryAt` null: the device answers and is polled as planned. */
export type Breaker = { readonly failures: number; readonly retryAt: number | null; readonly since: number }

const FIRST_MS = 5 * SECOND
const MOST_MS = MINUTE

export const closedBreaker = (now: number): Breaker => ({ failures: 0, retryAt: null, since: now })

/** After a read that failed as a whole: the pause doubles from 5 s to a minute. */
export function tripBreaker(breaker: Breaker, now: number): Breaker {
  const pause = Math.min(MOST_MS, FIRST_MS * 2 ** breaker.failures)
  return { failures: breaker.failures + 1, retryAt: now + pause, since: breaker.retryAt === null ? now : breaker.since }
}
