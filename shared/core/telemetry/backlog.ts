/** Whether the messages that wait on an edge become fewer, and when none is left. */
import { DAY, MINUTE } from '../time.ts'

/** So many are under way while nothing is wrong (reliability §1.6): whether these become fewer says nothing. */
const UNDER_WAY = 50
/** A change below this is no trend, messages a minute. */
const CHANGE_MIN = 0.5
/** A backlog that would take longer is not foretold. */
const FORETOLD_MAX_MS = 30 * DAY

export type BacklogCourse =
  | { state: 'unknown' }
  | { state: 'level' }
  /** `per_minute`: messages, > 0. */
  | { state: 'growing'; per_minute: number }
  /** `empty_at`: ms since 1970 UTC; null where it is more than 30 days away. */
  | { state: 'falling'; per_minute: number; empty_at: number | null }

/**
 * @param rows messages that wait
 * @param drain_per_min by which they become fewer in a minute, negative while they become more; null where nobody knows
 * @param at when both were so, ms since 1970 UTC
 */
export function backlogCourse(rows: number, drain_per_min: number | null, at: number): BacklogCourse {
  if (drain_per_min === null || rows <= UNDER_WAY) return { state: 'unknown' }
  if (drain_per_min <= -CHANGE_MIN) return { state: 'growing', per_minute: -drain_per_min }
  if (drain_per_min < CHANGE_MIN) return { state: 'level' }
  const left = (rows / drain_per_min) * MINUTE
  return { state: 'falling', per_minute: drain_per_min, empty_at: left > FORETOLD_MAX_MS ? null : Math.round(at + left) }
}
