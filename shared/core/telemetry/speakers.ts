/** Which processes speak under one edge id. A boot id that is new is a restart; one that comes back is a second process. */
import { MINUTE } from '../time.ts'

/** What was heard of an edge id, as boot ids in the order in which they last spoke; the last one is the current one. */
export type Speakers = {
  heard: readonly { boot_id: string; at: number }[]
  /** How often in a row a boot id came back after another had spoken. */
  returns: number
  since: number
  last_at: number
}
/** More than one process runs under the edge id. Times are ms since 1970 UTC. */
export type Shared = { boot_ids: string[]; since: number; last_at: number }

/** What came back is forgotten after this long without another return, ms: the slowest of two that take turns are faster. */
export const SHARED_MS = 10 * MINUTE
/** So many returns tell two processes from one status that was delivered late. */
const RETURNS_MIN = 3
/** Most processes that are told apart. */
const HEARD_MAX = 8

/** Takes note of an edge that says it is there. */
export function hear(before: Speakers | undefined, boot_id: string, now: number): Speakers {
  const { heard, returns, since, last_at } = before ?? { heard: [], returns: 0, since: now, last_at: now }
  const others = heard.filter(one => one.boot_id !== boot_id && now - one.at <= SHARED_MS)
  const next = [...others, { boot_id, at: now }].slice(-HEARD_MAX)
  const earlier = heard.find(one => one.boot_id === boot_id)
  const isCurrent = heard.at(-1)?.boot_id === boot_id
  if (isCurrent || !earlier || now - earlier.at > SHARED_MS) return { heard: next, returns, since, last_at }
  const goesOn = returns > 0 && now - last_at <= SHARED_MS
  return { heard: next, returns: goesOn ? returns + 1 : 1, since: goesOn ? since : now, last_at: now }
}

/** @returns who shares the edge id, or undefined while it is one process, as far as can be seen */
export function sharedBy(speakers: Speakers | undefined, now: number): Shared | undefined {
  if (!speakers || speakers.returns < RETURNS_MIN || now - speakers.last_at > SHARED_MS) return undefined
  const { heard, since, last_at } = speakers
  return { boot_ids: heard.map(({ boot_id }) => boot_id), since, last_at }
}

/** @returns whether another process has spoken since this one: its last will says nothing about that other */
export const isReplaced = (speakers: Speakers | undefined, boot_id: string): boolean =>
  speakers !== undefined && speakers.heard.at(-1)?.boot_id !== boot_id && speakers.heard.some(one => one.boot_id === boot_id)
