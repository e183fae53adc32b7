/**
 * Requests of a serial line whose answers may still arrive. Frames of Modbus RTU carry no number, so the late answer to a request
 * that was given up looks like the answer to the next request of its kind. Instants are ms of a monotonic clock.
 */
import { bytesDue, CODES, type ModbusReply } from './pdu.ts'
import type { RegisterRange } from './point.ts'

/** A request that was given up at a time when its answer could still come. */
export type UnansweredRequest = { unit: number; range: RegisterRange; sentAt: number; timeoutMs: number }

/** An answer that is later than this many timeouts does not arrive any more. */
const LATEST_TIMEOUTS = 5

/** @returns the requests whose answer may still arrive */
export const stillExpected = (requests: readonly UnansweredRequest[], now: number): UnansweredRequest[] =>
  requests.filter(({ sentAt, timeoutMs }) => now - sentAt <= LATEST_TIMEOUTS * timeoutMs)

/**
 * Finds the earlier requests of `unit` that `reply` may answer instead of the request for `range`.
 *
 * @returns `waitMs`: how long their answers may still take, 1.5 times as long as they are late already
 */
export function findCompetingRequests(
  requests: readonly UnansweredRequest[],
  unit: number,
  range: RegisterRange,
  reply: ModbusReply,
  now: number,
) {
  const rivals = requests.filter(one => one.unit === unit && looksAlike(one.range, range, reply))
  const waits = rivals.map(({ sentAt, timeoutMs }) => Math.max(timeoutMs, 1.5 * (now - sentAt)))
  return { count: rivals.length, waitMs: Math.max(0, ...waits) }
}

/** Tells whether `reply`, which fits `range`, fits `other` too. */
const looksAlike = (other: RegisterRange, range: RegisterRange, reply: ModbusReply): boolean =>
  CODES[other.table] === CODES[range.table] && (reply.state === 'exception' || bytesDue(other) === bytesDue(range))
