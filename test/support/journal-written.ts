/** Readings for journals under test. The content of record n follows from n. */
import { LEVELS, type PriorityReading, type PriorityRecord, type Slot } from '#shared/core/priority/priority-record.ts'

/** Number of points, visited in turn, and of records after which a point changes. */
export const POINTS = 13
const SAME = 61

/** A journal small enough that it begins and drops segments all the time. */
export const SMALL_JOURNAL = { maxRecords: 150, segmentBytes: 30_000 }

/** The reading that becomes record `seq`. */
export function reading(seq: number): PriorityReading {
  const command = Math.floor(seq / SAME)
  const slots = Array.from({ length: LEVELS }, (_, i): Slot => {
    const level = i + 1
    if (level === 1 + (command % LEVELS)) return { level, state: 'value', type: 'real', value: command + 0.5 }
    return level === 10 ? { level, state: 'error', error: 'read-access-denied' } : { level, state: 'null' }
  })
  return {
    observed_at: Date.UTC(2026, 0, 1) + seq * 1000,
    target: { device_instance: 1000, object_type: 'analog-output', object_instance: seq % POINTS },
    label: `Damper ${seq % POINTS} "ü"`,
    slots,
    active_level: command % LEVELS === 9 ? null : 1 + (command % LEVELS),
    present_value: command + 0.5,
    source: 'scheduled',
  }
}

export const readings = (from: number, to: number): PriorityReading[] =>
  Array.from({ length: to - from + 1 }, (_, i) => reading(from + i))

/** @returns the differences from what was written, as text; empty when there is none */
export function deviations(records: PriorityRecord[]): string[] {
  return records.flatMap(({ seq, changed, ...said }, i) => {
    const next = records[i - 1]
    if (next && next.seq !== seq + 1) return [`${next.seq} follows ${seq}`]
    const { observed_at, ...state } = said
    const { observed_at: at, ...wanted } = reading(seq)
    const differs = seq > POINTS && JSON.stringify(reading(seq - POINTS).slots) !== JSON.stringify(wanted.slots)
    const sameText = JSON.stringify(sorted(state)) === JSON.stringify(sorted(wanted)) && observed_at === at
    const sameChange = seq <= POINTS ? changed.length === LEVELS : changed.length > 0 === differs
    return sameText && sameChange ? [] : [`record ${seq} is not what was written`]
  })
}

const sorted = (record: object): [string, unknown][] => Object.entries(record).toSorted(([a], [b]) => a.localeCompare(b))
