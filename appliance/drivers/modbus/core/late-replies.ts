/**
 * Requests on a serial line whose answers may still arrive. Frames of Modbus RTU carry no transaction id, so the late answer to
 * an earlier request looks like the answer to the next request of the same kind. Times are ms of a monotonic clock.
 */
import { bytesDue, CODES, type ModbusReply } from './pdu.ts'
import type { RegisterRange } from './point.ts'

/** A request that timed out and whose answer may still arrive. */
export type UnansweredRequest = { unit: number; range: RegisterRange; sentAt: number; timeoutMs: number }

/** An answer does not arrive later than this many timeouts. */
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
  const rivals = requests.filter(one => one.unit === unit && isSameReply(one.range, range, reply))
  const waits = rivals.map(({ sentAt, timeoutMs }) => Math.max(timeoutMs, 1.5 * (now - sentAt)))
  return { count: rivals.length, waitMs: Math.max(0, ...waits) }
}

/** Returns whether `reply`, which fits `range`, fits `other` too. */
const isSameReply = (other: RegisterRange, range: RegisterRange, reply: ModbusReply): boolean =>
  CODES[other.table] === CODES[range.table] && (reply.state === 'exception' || bytesDue(other) === bytesDue(range))
