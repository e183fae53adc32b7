/**
 * Isolates bad points, so that they do not prevent the reading of the others, on any bus with many points in one request.
 *
 * Some points make every request fail that contains them: the device does not answer, garbles its answer or declines. The
 * functions here find and isolate such points; each driver decides what a request is and sends it. A read has these steps:
 *
 * 1. `planRetries` returns the points that are read together, the isolated points that are tried again in this read, each alone
 *    and at the end, and those that rest, which are bad for the reason noted. `unreachedFirst` puts first what the last read did
 *    not reach.
 * 2. A request that fails is split with `splitEvenly`: into 2 when a failure costs only a message, into 4 when it costs a
 *    timeout. `createFailure` makes a record of the failure, and each part carries it. The parts are requested after all first
 *    requests, so that no point waits for the search.
 * 3. After a request without any answer a point that answered lately is requested alone (the witness). When that gets no answer
 *    either, the device is down: the read ends, and no point is isolated. When it does, the search continues.
 * 4. A single point that fails is bad: `isolate` it, and call `endPart(record, 'culprit')`. A part that is answered ends with
 *    `endPart(record, size)`. It returns a failure whose parts were all answered: the request was too large, or it failed by
 *    chance. Only such failures may change the size of later requests.
 * 5. After `FAILURES_MAX` failed requests the search pauses until the next read, which continues it.
 *
 * A device that answers every request costs nothing extra.
 */
import { HOUR, MINUTE } from '#shared/core/time.ts'

/** Failed requests of one read: five bad points among 500 take 25, split by four. Each may cost its timeout. */
export const FAILURES_MAX = 32
/** Retries of isolated points that may fail in one read; the others that are due wait for the next read. */
export const RETRIES_MAX = 4
/** Pause after the second failure, doubling with each further one. */
const REST_MS = 5 * MINUTE
const REST_MAX_MS = HOUR

/** An isolated point: the reason, failures in a row, and the time of the next attempt, ms since 1970. */
type IsolatedItem = { readonly reason: string; readonly failures: number; readonly retryAt: number }
/** The isolated points of one device by the key of the point; it lives as long as the driver. */
export type IsolatedItems = Map<string, IsolatedItem>

/**
 * Isolates a point, for longer each time. After the first failure it is tried again in the next read, unless `isCertain`: the
 * failure was not by chance.
 */
export function isolate(items: IsolatedItems, key: string, reason: string, now: number, isCertain = false): void {
  const failures = (items.get(key)?.failures ?? (isCertain ? 1 : 0)) + 1
  const restMs = failures === 1 ? 0 : Math.min(REST_MAX_MS, REST_MS * 2 ** (failures - 2))
  items.set(key, { reason, failures, retryAt: now + restMs })
}

/** Whether a point is not due yet. After the clock was set back it is due at once, otherwise it would rest for too long. */
export const isResting = ({ retryAt }: Pick<IsolatedItem, 'retryAt'>, now: number): boolean =>
  retryAt > now && retryAt <= now + REST_MAX_MS

type RetryPlan<I> = {
  together: readonly I[]
  /** Isolated points that are due, each alone; the longest waiting first. See `RETRIES_MAX`. */
  retried: readonly I[]
  resting: readonly I[]
}

/** @param keyOf equal for points at the same address in the device */
export function planRetries<I>(
  isolated: IsolatedItems,
  items: readonly I[],
  keyOf: (item: I) => string,
  now: number,
): RetryPlan<I> {
  if (isolated.size === 0) return { together: items, retried: [], resting: [] }
  const together: I[] = []
  const known: { item: I; retryAt: number }[] = []
  for (const item of items) {
    const entry = isolated.get(keyOf(item))
    if (!entry) together.push(item)
    else known.push({ item, retryAt: isResting(entry, now) ? entry.retryAt : Math.min(entry.retryAt, now) })
  }
  known.sort((a, b) => a.retryAt - b.retryAt)
  const due = known.filter(({ retryAt }) => retryAt <= now).length
  const list = known.map(({ item }) => item)
  return { together, retried: list.slice(0, due), resting: list.slice(due) }
}

/** @returns `items`, those first that the last read did not reach, otherwise in the same order */
export function unreachedFirst<I>(unreached: ReadonlySet<string>, items: readonly I[], keyOf: (item: I) => string): readonly I[] {
  if (unreached.size === 0) return items
  const wasLeft = (item: I) => unreached.has(keyOf(item))
  return [...items.filter(wasLeft), ...items.filter(item => !wasLeft(item))]
}

/** @returns `count` parts of nearly equal length, fewer when there are fewer items; none is empty */
export function splitEvenly<I>(items: readonly I[], count: number): I[][] {
  const length = Math.ceil(items.length / Math.min(count, Math.max(1, items.length)))
  const parts: I[][] = []
  for (let at = 0; at < items.length; at += length) parts.push(items.slice(at, at + length))
  return parts
}

/** A failed request that was split. `size` in the unit of the driver: bytes or registers. */
export type SplitRequest = {
  readonly size: number
  readonly within: SplitRequest | undefined
  /** Parts that have not ended. */
  open: number
  /** A bad point was found in it, or a smaller failure within it was unexplained. */
  isExplained: boolean
  /** Size of the largest part that was answered. */
  answered: number
}

/**
 * @param within the failure that the request was a part of. The new record replaces that part: do not end the part.
 * @param parts number of parts
 */
export const createFailure = (size: number, parts: number, within?: SplitRequest): SplitRequest => ({
  size,
  within,
  open: parts,
  isExplained: false,
  answered: 0,
})

/** Notes that one open part of `of` is requested in two pieces. */
export function splitPart(of: SplitRequest | undefined): void {
  if (of) of.open++
}

/**
 * Ends one part.
 *
 * @param of undefined for a request that is no part of a failure
 * @param how the size of an answered part, or `culprit` for a single point that failed
 * @returns the failure that ended with this part although no bad point explains it; at most one, the smallest
 */
export function endPart(of: SplitRequest | undefined, how: number | 'culprit'): SplitRequest | undefined {
  let unexplained: SplitRequest | undefined
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
