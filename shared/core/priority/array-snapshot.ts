/**
 * Priority arrays as rules read them. A snapshot shows one instant. A value is valid between two snapshots only when both
 * show it; between two that differ, and after the newest, it is unknown.
 */
import { nameTable } from '#shared/core/name-table.ts'
import { upperMedianOf } from '#shared/core/series/statistics.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { dateOf } from '#shared/core/time-zone.ts'
import { isOverride, type LevelMeaning, RELINQUISHED } from './priority-levels.ts'
import { activeLevel, type PriorityReading, type SlotValue } from './priority-record.ts'

/** The priority array of a point at one visit. Values are in the canonical unit of its role. */
export type ArraySnapshot = {
  t: number
  /** [16], P1 first; null for an empty level, NaN for one that could not be read or has no number */
  slots: (number | null)[]
  /** The relinquish default; NaN when it could not be read. */
  fallback: number
  /** The date in the time zone of the building. */
  date: string
  /** A level commands that the site counts as an override. */
  overridden: boolean
}

/** Converts the value of the device to the canonical unit: value × scale + offset. */
type Linear = { scale: number; offset: number }

export function arraySnapshot(
  reading: Pick<PriorityReading, 'observed_at' | 'slots' | 'relinquish_default'>,
  { scale, offset }: Linear,
  meanings: readonly LevelMeaning[],
  timezone: string,
): ArraySnapshot {
  const numberOf = (value: SlotValue | undefined) =>
    value === undefined || typeof value === 'string' ? Number.NaN : Number(value) * scale + offset
  return {
    t: reading.observed_at,
    slots: reading.slots.map(slot => (slot.state === 'null' ? null : slot.state === 'value' ? numberOf(slot.value) : Number.NaN)),
    fallback: numberOf(reading.relinquish_default),
    date: dateOf(reading.observed_at, timezone),
    overridden: isOverride(activeLevel(reading.slots), meanings),
  }
}

/** A snapshot is valid for at most this many usual intervals, like a sample. */
export const VALID_INTERVALS = 3
/** The lowest level at which people command; programs have lower priority (135-2020 19.2.1). */
const OPERATOR = 8

type Facts = (visit: ArraySnapshot, level: number) => number
const isKnown = (slot: number | null | undefined): boolean => slot === null || slot === slot
const holds = (slot: number | null | undefined): boolean => slot !== null && slot !== undefined && slot === slot

/** @returns 1..17; NaN when a level that could not be read may command */
export function activeSlot({ slots }: Pick<ArraySnapshot, 'slots'>): number {
  for (const [i, slot] of slots.entries()) {
    if (slot === null) continue
    return isKnown(slot) ? i + 1 : Number.NaN
  }
  return RELINQUISHED
}

/** @returns the command of the programs: the value of their highest level */
function programCommand({ slots }: ArraySnapshot): number {
  const programs = slots.slice(OPERATOR)
  return programs.find(slot => slot !== null) ?? Number.NaN
}

const FACTS = nameTable<Facts>({
  active_slot: activeSlot,
  overridden: visit => (Number.isNaN(activeSlot(visit)) ? Number.NaN : visit.overridden ? 1 : 0),
  slot: ({ slots }, level) => slots[level - 1] ?? Number.NaN,
  commanded: ({ slots }, level) => {
    const slot = slots[level - 1]
    return slot === null ? 0 : holds(slot) ? 1 : Number.NaN
  },
  writers: ({ slots }) => (slots.every(isKnown) ? slots.filter(holds).length : Number.NaN),
  relinquish_default: ({ fallback }) => fallback,
  command: visit => [...visit.slots, visit.fallback][activeSlot(visit) - 1] ?? Number.NaN,
  asked: programCommand,
})

/**
 * Running sums. The change of such a column over a window is the sum within the window.
 *
 * @param origin the sum at the first snapshot
 */
const SUMS = nameTable<(visits: readonly ArraySnapshot[], origin: number) => number[]>({
  flips: (visits, origin) => {
    let count = origin
    return visits.map((visit, i) => (i > 0 && activeSlot(visit) !== activeSlot(visits[i - 1]!) ? ++count : count))
  },
  asked_travel: (visits, origin) => {
    let sum = origin
    return visits.map((visit, i) => {
      const step = i > 0 ? Math.abs(programCommand(visit) - programCommand(visits[i - 1]!)) : 0
      return (sum += Number.isNaN(step) ? 0 : step)
    })
  },
  override_days: (visits, origin) => {
    let count = origin
    let last = ''
    return visits.map((visit, i) => {
      const before = visits[i - 1]
      // The next snapshot must confirm it, because a single one may show an operating mistake.
      const began = visit.overridden && before?.overridden === false && visits[i + 1]?.overridden === true
      if (began && visit.date !== last) {
        count++
        last = visit.date
      }
      return count
    })
  },
})

/** @returns whether a column is a running sum, of which only the change over a window has a meaning */
export const isRunningSum = (column: string): boolean => Object.hasOwn(SUMS, NAME.exec(column)?.[1] ?? '')

const NAME = /^(\w+)\((\w+)(?:, (\d+))?\)$/

/** @returns the column name of a function of the array: `slot(clg_valve, 8)` */
export const slotColumn = (name: string, role: string, level?: number): string =>
  level === undefined ? `${name}(${role})` : `${name}(${role}, ${level})`

/** @returns the role of a column; undefined when the column is no function of a priority array */
export const roleOfColumn = (column: string): string | undefined => NAME.exec(column)?.[2]

type ArraySeries = { ts: Float64Array; values: Float64Array; nominalMs: number }

/**
 * Evaluates one function of the array over time.
 *
 * @param column as `slotColumn` writes it
 * @param visits by role, each ascending
 * @param usualMs by role, the usual interval between snapshots; for other roles it is computed
 * @param origin of a running sum: its value at the first snapshot, which is of an earlier day than the others
 * @returns undefined when the column is no function of a priority array, or the role has no snapshot
 */
export function slotSeries(
  column: string,
  visits: Readonly<Record<string, ArraySnapshot[]>>,
  usualMs: Readonly<Record<string, number>> = {},
  origin = 0,
): ArraySeries | undefined {
  const [, name = '', role = '', level] = NAME.exec(column) ?? []
  const seen = Object.hasOwn(visits, role) ? visits[role]! : []
  if (seen.length === 0) return undefined
  const nominalMs = Object.hasOwn(usualMs, role) ? usualMs[role]! : medianInterval(seen)
  const ts = Float64Array.from(seen, ({ t }) => t)
  const sum = SUMS[name]
  if (sum) return { ts, values: Float64Array.from(sum(seen, origin)), nominalMs }
  const fact = FACTS[name]
  if (!fact) return undefined
  const facts = seen.map(visit => fact(visit, Number(level)))
  return { ts, values: Float64Array.from(facts, (value, i) => (facts[i + 1] === value ? value : Number.NaN)), nominalMs }
}

/** Longest time from the answer of a slow device to its record in the journal. */
const LATE_MS = 10 * MINUTE

/**
 * Finds the time from which new snapshots change the input of rules. A value is valid until the next snapshot, so that is the
 * time of the snapshot before the first new one.
 *
 * @param visits by point, each ascending
 * @param since snapshots after this are new
 * @returns ms; Infinity when no snapshot is new
 */
export function earliestChange(visits: Readonly<Record<string, ArraySnapshot[]>>, since: number): number {
  const from = Object.values(visits).map(seen => {
    const first = seen.findIndex(({ t }) => t >= since - LATE_MS)
    return first < 0 ? Infinity : seen[Math.max(first - 1, 0)]!.t
  })
  return Math.min(Infinity, ...from)
}

/** @returns the median interval between snapshots, ms */
export function medianInterval(visits: readonly ArraySnapshot[]): number {
  const gaps = visits.slice(1).map(({ t }, i) => t - visits[i]!.t)
  return upperMedianOf(gaps) ?? HOUR
}
