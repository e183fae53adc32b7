/**
 * Isolates bad points, so that they do not prevent the reading of the others, on any bus with many points in one request.
 *
 * Some points make every request fail that contains them: the device does not answer, garbles its answer or declines. The
 * functions here find and isolate such points; each driver decides what a request is and sends it. A read has these steps:
 *
 * 1. `sortOut` says which points are read together, which known culprits are tried again now, each alone and at the end,
 *    and which rest: those are bad for the reason that is kept. `firstUnreached` puts first what the last read left out.
 * 2. A request that fails is cut with `cut` into smaller ones: 2 when a failure costs only a message, 4 when it costs a
 *    timeout. `failure` makes the record of it, and each part carries that record. The parts are asked after everything
 *    that has not been asked yet, so that no point waits for the search.
 * 3. After a request without any answer a point that answered lately is asked alone (the witness). If that gets no
 *    answer either, the device is gone: the read ends, nobody is blamed and nothing is learnt. If it does, the search goes on.
 * 4. A single point that fails is the culprit: `accuse` it, and `endPart(record, 'culprit')`. A part that is answered is
 *    `endPart(record, size)`. What that returns are failures that no point explains, as all their parts were answered: the
 *    request was too large, or it was chance. Only they may teach anything about size.
 * 5. After `FAILURES_MAX` failed requests the search rests until the next read, which goes on where it stopped.
 *
 * Nothing here costs anything for a device that answers everything.
 */
import { HOUR, MINUTE } from '#shared/core/time.ts'

/** Requests of one read that may fail: five culprits among 500 points take 25, cut by four. Each may cost its timeout. */
export const FAILURES_MAX = 32
/** Culprits that may fail once more in one read; the others that are due then wait for the next. */
export const RETRIES_MAX = 4
/** From the second failure on until being tried again, doubling each time that it fails once more. */
const REST_MS = 5 * MINUTE
const REST_MAX_MS = HOUR

/** An isolated point: the reason, failures in a row, and the next attempt `retryAt`, ms since 1970. */
type Culprit = { readonly reason: string; readonly failures: number; readonly retryAt: number }
/** The isolated points of one device by the key of the point; it lives as long as the driver. */
export type Apart = Map<string, Culprit>

/**
 * Keeps a point apart, for longer each time. The first time it is tried again in the next read, unless it is certain that it
 * was no chance.
 */
export function accuse(apart: Apart, key: string, reason: string, now: number, isCertain = false): void {
  const failures = (apart.get(key)?.failures ?? (isCertain ? 1 : 0)) + 1
  const restMs = failures === 1 ? 0 : Math.min(REST_MAX_MS, REST_MS * 2 ** (failures - 2))
  apart.set(key, { reason, failures, retryAt: now + restMs })
}

/** Due at once when the clock was set back: else it would rest until the clock has caught up. */
export const isResting = ({ retryAt }: Pick<Culprit, 'retryAt'>, now: number): boolean =>
  retryAt > now && retryAt <= now + REST_MAX_MS

type SortedOut<I> = {
  together: readonly I[]
  /** Culprits that are due to be tried again, each alone; those first that have waited longest. See `RETRIES_MAX`. */
  retried: readonly I[]
  resting: readonly I[]
}

/** @param keyOf equal for points that share one place in the device */
export function sortOut<I>(apart: Apart, items: readonly I[], keyOf: (item: I) => string, now: number): SortedOut<I> {
  if (apart.size === 0) return { together: items, retried: [], resting: [] }
  const together: I[] = []
  const known: { item: I; retryAt: number }[] = []
  for (const item of items) {
    const culprit = apart.get(keyOf(item))
    if (!culprit) together.push(item)
    else known.push({ item, retryAt: isResting(culprit, now) ? culprit.retryAt : Math.min(culprit.retryAt, now) })
  }
  known.sort((a, b) => a.retryAt - b.retryAt)
  const due = known.filter(({ retryAt }) => retryAt <= now).length
  const list = known.map(({ item }) => item)
  return { together, retried: list.slice(0, due), resting: list.slice(due) }
}

/** @returns `items` with those first that the last read did not reach; the order is else kept */
export function firstUnreached<I>(unreached: ReadonlySet<string>, items: readonly I[], keyOf: (item: I) => string): readonly I[] {
  if (unreached.size === 0) return items
  const wasLeft = (item: I) => unreached.has(keyOf(item))
  return [...items.filter(wasLeft), ...items.filter(item => !wasLeft(item))]
}

/** @returns `ways` parts of nearly equal length, fewer when there are fewer items; none is empty */
export function cut<I>(items: readonly I[], ways: number): I[][] {
  const length = Math.ceil(items.length / Math.min(ways, Math.max(1, items.length)))
  const parts: I[][] = []
  for (let at = 0; at < items.length; at += length) parts.push(items.slice(at, at + length))
  return parts
}

/** A request that failed, and what stands for it now. `size` in whatever the driver counts: bytes, registers. */
export type Failure = {
  readonly size: number
  readonly within: Failure | undefined
  /** Parts of it that have not ended. */
  open: number
  /** A culprit was found in it, or a smaller failure of it was unexplained. */
  isExplained: boolean
  /** The largest part that was answered. */
  answered: number
}

/**
 * @param within the failure that the request itself was a part of. It takes the place of that part: do not end that.
 * @param parts into how many it was cut
 */
export const failure = (size: number, parts: number, within?: Failure): Failure => ({
  size,
  within,
  open: parts,
  isExplained: false,
  answered: 0,
})

/** Notes that one open part of `of` was itself asked for in two pieces. */
export function splitPart(of: Failure | undefined): void {
  if (of) of.open++
}

/**
 * Notes how one part ended.
 *
 * @param of undefined for a request that is no part of a failure
 * @param how its size when it was answered; `culprit` for a single point that failed
 * @returns the failure that has ended with this part and is explained by no culprit; at most one, the smallest
 */
export function endPart(of: Failure | undefined, how: number | 'culprit'): Failure | undefined {
  let unexplained: Failure | undefined
  let ended: { isExplained: boolean; answered: number } =
    how === 'culprit' ? { isExplained: true, answered: 0 } : { isExplained: false, answered: how }
  for (let one = of; one; one = one.within) {
    one.open--
    one.isExplained ||= ended.isExplained
    one.answered = Math.max(one.answered, ended.answered)
    if (one.open > 0) break
    if (!one.isExplained) unexplained = one
    ended = { isExplained: true, answered: one.answered }
  }
  return unexplained
}
