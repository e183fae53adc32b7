/** Alerts: the conditions that raise them, and when one is raised and recovered. */
import type { FindingKind, Priority } from '../findings/finding.ts'
import { HOUR, MINUTE } from '../time.ts'

/** `edge`: an edge sends no data; `refused`: nothing of what it sends is stored; the others are about one that is heard. */
export const EDGE_KINDS = ['edge', 'refused', 'poll', 'backlog', 'clock', 'certificate', 'disk'] as const
export type EdgeKind = (typeof EDGE_KINDS)[number]
export type AlertKind = FindingKind | EdgeKind

export const isEdgeKind = (kind: AlertKind): kind is EdgeKind => (EDGE_KINDS as readonly string[]).includes(kind)

/** Something that is wrong with an edge which still sends. Unless `isRaised` it only keeps an alert from being over. */
export type EdgeTrouble = Pick<AlertCondition, 'title' | 'detail' | 'since' | 'priority'> & {
  kind: Exclude<EdgeKind, 'edge' | 'refused'>
  isRaised: boolean
}

/** Something that is wrong now. The `key` stays the same while the same fault of the same equipment lasts. */
export type AlertCondition = {
  key: string
  kind: AlertKind
  /** Empty for one that is about no single building: each route takes it. */
  building_id: string
  building_name: string
  timezone: string
  priority: Priority
  title: string
  /** One sentence with figures. */
  detail: string
  /** When it began, ms. */
  since: number
  /** Path of its page. */
  path: string
}
export type AlertEvent = { type: 'raised' | 'recovered'; at: number; condition: AlertCondition }

/**
 * `clearing_since`: when the condition was last found untrue after it had been true. `quiet`: it has been snoozed since it was raised.
 */
export type AlertState = { condition: AlertCondition; raised_at: number; clearing_since?: number; quiet?: true }

/** An alert of a finding recovers when the finding was cleared for this long, so that one that flaps is one alert. */
const FINDING_CLEAR_MS = 6 * HOUR
/** An alert of an edge recovers when the edge has sent, or its trouble was gone, for this long. */
const EDGE_CLEAR_MS = 10 * MINUTE

/**
 * One step of one alert. Raised and recovered events alternate, but for one that was snoozed, which is raised again when that ends,
 * and one that has become more urgent, which is raised again as such.
 *
 * @param condition undefined while it is not true
 * @param isQuiet whether a snooze covers it; its condition is not given then
 * @returns the next state, undefined when there is no alert, and the event to deliver
 */
export function stepAlert(
  state: AlertState | undefined,
  condition: AlertCondition | undefined,
  now: number,
  isQuiet = false,
): { state: AlertState | undefined; event?: AlertEvent } {
  if (!state) {
    if (!condition) return { state }
    return { state: { condition, raised_at: now }, event: { type: 'raised', at: now, condition } }
  }
  const { raised_at, quiet } = state
  if (isQuiet) return { state: { condition: state.condition, raised_at, quiet: true } }
  if (condition && quiet) return { state: { condition, raised_at: now }, event: { type: 'raised', at: now, condition } }
  if (condition && condition.priority < state.condition.priority) {
    return { state: { condition, raised_at: now }, event: { type: 'raised', at: now, condition } }
  }
  // It is as urgent as it was announced, so that one that wavers between two priorities is announced once in each.
  if (condition) return { state: { condition: { ...condition, priority: state.condition.priority }, raised_at } }
  const since = state.clearing_since ?? now
  const clearMs = isEdgeKind(state.condition.kind) ? EDGE_CLEAR_MS : FINDING_CLEAR_MS
  if (now - since < clearMs) return { state: { ...state, clearing_since: since } }
  return { state: undefined, event: { type: 'recovered', at: now, condition: state.condition } }
}
