/** Rate limit of requests, timeouts of attempts, and how long a request has a slot. */

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

/** A request without an answer releases its slot after this time where answers are quick. */
const SLOT_MIN_MS = 1000
/** A slot is held for this multiple of the slowest answer. */
const SLOT_FACTOR = 2
/** Share of the slowest answer that counts after the next one, so that a trunk that has recovered is asked faster again. */
const SLOWEST_DECAY = 0.9

/**
 * How long a request without an answer holds its slot on a trunk. A trunk that needs longer for an answer would otherwise be
 * asked more than it answers: the router queues the rest, and answers arrive when their requests have timed out.
 *
 * @param slowestMs of `slowestAfter`; 0 before the first answer
 */
export const slotMs = (slowestMs: number): number => Math.max(SLOT_MIN_MS, SLOT_FACTOR * slowestMs)

/** @param rttMs of an answer; 0 when a slot was released without one. @returns the slowest of the latest answers, ms */
export const slowestAfter = (slowestMs: number, rttMs: number): number => Math.max(rttMs, SLOWEST_DECAY * slowestMs)
