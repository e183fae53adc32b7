/**
 * Which answers a unit on a serial line may still owe. Frames of Modbus RTU carry no number, so the answer to a request that
 * was given up looks like that to the next one of its kind. Instants are ms on any clock that only goes forward.
 */
import { bytesDue, CODES, type Reply } from './pdu.ts'
import type { RegisterRange } from './point.ts'

/** A request that was given up at a time when its answer could still come. */
export type UnansweredRequest = { unit: number; place: RegisterRange; sentAt: number; timeoutMs: number }

/** An answer that is later than this many timeouts does not come any more. */
const LATEST_TIMEOUTS = 5

/** @returns those whose answer may still come */
export const stillExpected = (owed: readonly UnansweredRequest[], now: number): UnansweredRequest[] =>
  owed.filter(({ sentAt, timeoutMs }) => now - sentAt <= LATEST_TIMEOUTS * timeoutMs)

/**
 * The earlier requests of `unit` whose answer `reply` could be instead of that to `place`.
 *
 * @returns `waitMs`: how long further ones may take to come; one that was late is waited for as long again and a half
 */
export function findRivals(owed: readonly UnansweredRequest[], unit: number, place: RegisterRange, reply: Reply, now: number) {
  const rivals = owed.filter(one => one.unit === unit && looksAlike(one.place, place, reply))
  const waits = rivals.map(({ sentAt, timeoutMs }) => Math.max(timeoutMs, 1.5 * (now - sentAt)))
  return { count: rivals.length, waitMs: Math.max(0, ...waits) }
}

/** Whether `reply`, which answers `place`, would answer `other` too. */
const looksAlike = (other: RegisterRange, place: RegisterRange, reply: Reply): boolean =>
  CODES[other.table] === CODES[place.table] && (reply.state === 'exception' || bytesDue(other) === bytesDue(place))
