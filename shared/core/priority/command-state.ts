/**
 * Which level commands a point, and since when, from the visits to it. A visit shows the state at one instant and not what
 * happened between two visits, so every instant here is one of a visit.
 */
import { DAY } from '../time.ts'
import { type PriorityReading, priorityKey, type PriorityRecord, type SlotValue } from './priority-record.ts'

/** Changes of the commanding level are counted over this time. */
export const FLIPS_MS = 30 * DAY

/** The command state of one point as of its newest record. */
export type CommandState = {
  latest: PriorityRecord
  /** The first visit since which the same level commands. */
  held_since: number
  /** The visit before that one; null when it is not recorded, because the level commanded at the first recorded visit already. */
  otherwise_at: number | null
  /** Who commanded until then, and since which visit; undefined when that is not recorded. */
  before?: { level: number | null; since: number }
  /** Visits since `held_since`, that one included. */
  visits: number
  /** Visits at which another level commanded than at the visit before, ascending; of the last 30 days. */
  flips: number[]
}

/** Successive visits at which the same level commanded the same value. */
export type CommandPeriod = {
  /** First and last visit. */
  from: number
  to: number
  level: number | null
  /** Value of that level; undefined when none commands. */
  value: SlotValue | undefined
  visits: number
  out_of_service: boolean
}

/** @returns the value of the level that commands */
export const commandOf = ({ slots, active_level }: Pick<PriorityReading, 'slots' | 'active_level'>): SlotValue | undefined => {
  const slot = active_level === null ? undefined : slots[active_level - 1]
  return slot?.state === 'value' ? slot.value : undefined
}

/** Tracks the command state of every point, record by record. */
export class CommandTracker {
  readonly #states = new Map<string, CommandState>()
  /** Sequence of the newest record added; 0 before the first. */
  last = 0

  /** @param record newer than those before */
  add(record: PriorityRecord): void {
    const key = priorityKey(record.target)
    this.#states.set(key, nextState(this.#states.get(key), record))
    this.last = record.seq
  }

  /** Starts again for a new journal. */
  clear(): void {
    this.#states.clear()
    this.last = 0
  }

  states(): CommandState[] {
    return [...this.#states.values()]
  }
}

function nextState(before: CommandState | undefined, latest: PriorityRecord): CommandState {
  const at = latest.observed_at
  if (!before) return { latest, held_since: at, otherwise_at: null, visits: 1, flips: [] }
  const flips = before.flips.filter(flip => flip > at - FLIPS_MS)
  if (before.latest.active_level === latest.active_level) return { ...before, latest, visits: before.visits + 1, flips }
  return {
    latest,
    held_since: at,
    otherwise_at: before.latest.observed_at,
    before: { level: before.latest.active_level, since: before.held_since },
    visits: 1,
    flips: [...flips, at],
  }
}

/**
 * @param records of one point, newest first
 * @returns newest first
 */
export function commandPeriods(records: readonly PriorityRecord[]): CommandPeriod[] {
  const periods: CommandPeriod[] = []
  for (const record of records) {
    const { observed_at, active_level: level, out_of_service = false } = record
    const value = commandOf(record)
    const later = periods.at(-1)
    if (later && later.level === level && later.value === value && later.out_of_service === out_of_service) {
      later.from = observed_at
      later.visits++
    } else periods.push({ from: observed_at, to: observed_at, level, value, visits: 1, out_of_service })
  }
  return periods
}
