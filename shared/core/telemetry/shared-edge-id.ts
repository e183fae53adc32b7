/**
 * Detects processes that share one edge id. A new boot id is a restart; a boot id that returns is a second process. A hub cannot
 * know which of them belongs to the id, so it stores nothing of either until one is left.
 */
import { MINUTE } from '../time.ts'

/** Boot ids that reported under an edge id, in the order of their last report; the last one is the current one. */
export type BootHistory = {
  boots: readonly { boot_id: string; at: number }[]
  /** How often in a row a boot id returned after another had reported. */
  returns: number
  since: number
  last_at: number
}
/** More than one process runs under the edge id. Times are ms since 1970 UTC. */
export type SharedEdgeId = { boot_ids: string[]; since: number; last_at: number }

/** Returns expire after this long without another one, ms: two processes under one id alternate faster. */
export const SHARED_MS = 10 * MINUTE
/** This many returns distinguish two processes from one status that was delivered late. */
const RETURNS_MIN = 3
/** Most boot ids that are remembered. */
const BOOTS_MAX = 8

/** Adds the boot id of an online status to the history. */
export function recordBootId(before: BootHistory | undefined, boot_id: string, now: number): BootHistory {
  const { boots, returns, since, last_at } = before ?? { boots: [], returns: 0, since: now, last_at: now }
  const others = boots.filter(boot => boot.boot_id !== boot_id && now - boot.at <= SHARED_MS)
  const next = [...others, { boot_id, at: now }].slice(-BOOTS_MAX)
  const earlier = boots.find(boot => boot.boot_id === boot_id)
  const isCurrent = boots.at(-1)?.boot_id === boot_id
  if (isCurrent || !earlier || now - earlier.at > SHARED_MS) return { boots: next, returns, since, last_at }
  const isContinued = returns > 0 && now - last_at <= SHARED_MS
  return { boots: next, returns: isContinued ? returns + 1 : 1, since: isContinued ? since : now, last_at: now }
}

/** @returns the processes that share the edge id, or undefined while only one is seen */
export function sharedEdgeId(history: BootHistory | undefined, now: number): SharedEdgeId | undefined {
  if (!history || history.returns < RETURNS_MIN || now - history.last_at > SHARED_MS) return undefined
  const { boots, since, last_at } = history
  return { boot_ids: boots.map(({ boot_id }) => boot_id), since, last_at }
}

export const sharedReason = ({ boot_ids }: SharedEdgeId): string =>
  `${boot_ids.length} processes run under this edge id: give each appliance an edge_id of its own in its site.json`

/** @returns whether another process has reported since this one, so that its last will does not end the current session */
export const isReplaced = (history: BootHistory | undefined, boot_id: string): boolean =>
  history !== undefined && history.boots.at(-1)?.boot_id !== boot_id && history.boots.some(boot => boot.boot_id === boot_id)
