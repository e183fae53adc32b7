/** How the storing of readings fares, for health: what waits in memory, within which bound, and since when nothing could be stored. */
import { MINUTE, SECOND } from './time.ts'

/** `since`: ms of the process's clock. */
export type StoringTrouble = { reason: string; since: number }
export type Storing = {
  /** Readings that wait in memory, and how many may at most; beyond it the oldest are dropped. */
  waiting: number
  waiting_max: number
  trouble?: StoringTrouble
}

/** A restart of a disk or a hub takes less; after this somebody has to look. */
const NOT_STORED_FAIL_MS = MINUTE

/** @returns `fail` once nothing could be stored for a minute. A clock that was set back counts as if the trouble began now */
export function storingStatus(trouble: StoringTrouble | undefined, now: number) {
  if (!trouble) return { status: 'ok' as const, not_stored_secs: 0 }
  const forMs = Math.max(0, now - trouble.since)
  return {
    status: forMs >= NOT_STORED_FAIL_MS ? ('fail' as const) : ('warn' as const),
    not_stored_secs: Math.round(forMs / SECOND),
  }
}

/** The trouble that began first. */
export const earlierTrouble = (a: StoringTrouble | undefined, b: StoringTrouble | undefined): StoringTrouble | undefined =>
  a && b ? (a.since <= b.since ? a : b) : (a ?? b)

/** Of several sinks: the trouble that began first, and the most that waits for one of them. */
export function worstOf(sinks: readonly Storing[]): Storing {
  const trouble = sinks.map(sink => sink.trouble).reduce(earlierTrouble, undefined)
  const waiting = Math.max(0, ...sinks.map(sink => sink.waiting))
  const waiting_max = Math.max(0, ...sinks.map(sink => sink.waiting_max))
  return { waiting, waiting_max, ...(trouble && { trouble }) }
}
