/**
 * Who held a point and since when, from visits. A visit tells what was, not what happened between two of them: every
 * instant here is one at which somebody looked.
 */
import { DAY } from '#shared/core/time.ts'
import { type PriorityReading, priorityKey, type PriorityRecord, type SlotValue } from './priority-record.ts'

/** Flips are counted over this long. */
export const FLIPS_MS = 30 * DAY

/** What is known of one point. */
export type CommandState = {
  latest: PriorityRecord
  /** The first visit since which the same level commands. */
  held_since: number
  /** The visit before that one; null when there is none: it was held so at the first visit that is kept. */
  otherwise_at: number | null
  /** Visits since then, that one included. */
  visits: number
  /** Visits at which another level commanded than at the one before, ascending; the last 30 days. */
  flips: number[]
}

/** Visits in a row at which the same level commanded the same. */
export type CommandPeriod = {
  /** First and last visit. */
  from: number
  to: number
  level: number | null
  /** What that level says; undefined where none commands. */
  value: SlotValue | undefined
  visits: number
  out_of_service: boolean
}

/** What the level that commands says. */
export const commandOf = ({ slots, active_level }: Pick<PriorityReading, 'slots' | 'active_level'>): SlotValue | undefined => {
  const slot = active_level === null ? undefined : slots[active_level - 1]
  return slot?.state === 'value' ? slot.value : undefined
}

/** Every point's course, which grows with each record. */
export function createCommandTracker() {
  const courses = new Map<string, CommandState>()
  let last = 0
  return {
    /** Sequence of the newest record that it has seen; 0 before the first. */
    last: () => last,
    /** @param record one that is newer than those before */
    add(record: PriorityRecord): void {
      const key = priorityKey(record.target)
      courses.set(key, continued(courses.get(key), record))
      last = record.seq
    },
    /** Forgets everything: the journal has begun anew. */
    clear(): void {
      courses.clear()
      last = 0
    },
    get: (key: string): CommandState | undefined => courses.get(key),
    all: (): CommandState[] => [...courses.values()],
  }
}

function continued(before: CommandState | undefined, latest: PriorityRecord): CommandState {
  const at = latest.observed_at
  if (!before) return { latest, held_since: at, otherwise_at: null, visits: 1, flips: [] }
  const flips = before.flips.filter(flip => flip > at - FLIPS_MS)
  if (before.latest.active_level === latest.active_level) return { ...before, latest, visits: before.visits + 1, flips }
  return { latest, held_since: at, otherwise_at: before.latest.observed_at, visits: 1, flips: [...flips, at] }
}

/**
 * @param records of one point, newest first
 * @returns newest first
 */
export function commandPeriods(records: readonly PriorityRecord[]): CommandPeriod[] {
  const stretches: CommandPeriod[] = []
  for (const record of records) {
    const { observed_at, active_level: level, out_of_service = false } = record
    const value = commandOf(record)
    const later = stretches.at(-1)
    if (later && later.level === level && later.value === value && later.out_of_service === out_of_service) {
      later.from = observed_at
      later.visits++
    } else stretches.push({ from: observed_at, to: observed_at, level, value, visits: 1, out_of_service })
  }
  return stretches
}
