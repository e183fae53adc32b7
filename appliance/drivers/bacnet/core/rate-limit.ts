/** Rate limit of requests, and timeouts of attempts. */

/**
 * A token bucket, stored as one instant: requests at an even rate of `perSecond` go at once, and after a pause a burst of a
 * tenth of a second may follow.
 *
 * @param paidUntil when the requests so far would have been sent at that pace, ms; 0 before the first
 * @returns `waitMs` 0 and more; with it the new `paidUntil`, whether or not the request is sent in the end
 */
export function limitRate(paidUntil: number, nowMs: number, perSecond: number): { paidUntil: number; waitMs: number } {
  const step = 1000 / perSecond
  const paid = Math.max(paidUntil, nowMs) + step
  return { paidUntil: paid, waitMs: Math.max(0, paid - nowMs - Math.max(step, BURST_MS)) }
}

const BURST_MS = 100

/**
 * How long an attempt waits for its answer: half a timeout longer than the one before, and up to a fifth more by chance,
 * so that a hundred devices that fell silent together are not all asked again in the same millisecond.
 *
 * @param attempt 0 is the first, which waits `timeoutMs`
 * @param chance in [0, 1)
 */
export const attemptTimeoutMs = (timeoutMs: number, attempt: number, chance: number): number =>
  timeoutMs * (1 + attempt / 2) * (attempt === 0 ? 1 : 1 + chance / 5)
