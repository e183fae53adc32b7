/**
 * Priority arrays as rules see them. A visit tells of one instant, so a value counts between two visits only where both of
 * them saw the same: what was between two that differ is not known, nor is what comes after the newest.
 */
import { HOUR, MINUTE } from '#shared/core/time.ts'
import { dateOf } from '#shared/core/time-zone.ts'
import { isOverride, type LevelMeaning, RELINQUISHED } from './priority-levels.ts'
import { activeLevel, type PriorityReading, type SlotValue } from './priority-record.ts'

/** One visit to the point that a role has. Values are in the role's canonical unit. */
export type ArraySnapshot = {
  t: number
  /** [16], P1 first; null where a level is empty, NaN where it could not be read or holds no number */
  slots: (number | null)[]
  /** The relinquish default; NaN where it could not be read. */
  fallback: number
  /** The building's date. */
  date: string
  /** Whether a level commands that the site counts as an override. */
  overridden: boolean
}

/** How the device's value becomes canonical: value × scale + offset. */
export type Linear = { scale: number; offset: number }

export function arraySnapshot(
  reading: Pick<PriorityReading, 'observed_at' | 'slots' | 'relinquish_default'>,
  { scale, offset }: Linear,
  meanings: readonly LevelMeaning[],
  timezone: string,
): ArraySnapshot {
  const figure = (value: SlotValue | undefined) =>
    value === undefined || typeof value === 'string' ? Number.NaN : Number(value) * scale + offset
  return {
    t: reading.observed_at,
    slots: reading.slots.map(slot => (slot.state === 'null' ? null : slot.state === 'value' ? figure(slot.value) : Number.NaN)),
    fallback: figure(reading.relinquish_default),
    date: dateOf(reading.observed_at, timezone),
    overridden: isOverride(activeLevel(reading.slots), meanings),
  }
}

/** A visit stands for at most this many usual distances, as a sample does. */
export const VALID_INTERVALS = 3
/** The lowest level of people; programs are below it (135-2020 19.2.1). */
const OPERATOR = 8

type Facts = (visit: ArraySnapshot, level: number) => number
const isKnown = (slot: number | null | undefined): boolean => slot === null || slot === slot
const holds = (slot: number | null | undefined): boolean => slot !== null && slot !== undefined && slot === slot

/** A level that could not be read may command: below it nothing is certain. */
export function activeSlot({ slots }: Pick<ArraySnapshot, 'slots'>): number {
  for (const [i, slot] of slots.entries()) {
    if (slot === null) continue
    return isKnown(slot) ? i + 1 : Number.NaN
  }
  return RELINQUISHED
}

/** What programs ask for: the highest level with a value below those at which people command. */
function asked({ slots }: ArraySnapshot): number {
  const programs = slots.slice(OPERATOR)
  return programs.find(slot => slot !== null) ?? Number.NaN
}

const FACTS: Record<string, Facts> = {
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
  asked,
}

/**
 * Running sums: what they add up within a window is their change over it. They stand from visit to visit.
 *
 * @param origin the sum at the first visit
 */
const SUMS: Record<string, (visits: readonly ArraySnapshot[], origin: number) => number[]> = {
  flips: (visits, origin) => {
    let count = origin
    return visits.map((visit, i) => (i > 0 && activeSlot(visit) !== activeSlot(visits[i - 1]!) ? ++count : count))
  },
  asked_travel: (visits, origin) => {
    let sum = origin
    return visits.map((visit, i) => {
      const step = i > 0 ? Math.abs(asked(visit) - asked(visits[i - 1]!)) : 0
      return (sum += Number.isNaN(step) ? 0 : step)
    })
  },
  override_days: (visits, origin) => {
    let count = origin
    let last = ''
    return visits.map((visit, i) => {
      const before = visits[i - 1]
      // The visit after it confirms it: one visit alone may have met a slip of the hand.
      const began = visit.overridden && before?.overridden === false && visits[i + 1]?.overridden === true
      if (began && visit.date !== last) {
        count++
        last = visit.date
      }
      return count
    })
  },
}

/** Whether a column is a running sum, which says something only as a change over a window. */
export const isRunningSum = (column: string): boolean => Object.hasOwn(SUMS, NAME.exec(column)?.[1] ?? '')

const NAME = /^(\w+)\((\w+)(?:, (\d+))?\)$/

/** How the column of a function of the array is called: `slot(clg_valve, 8)`. */
export const slotColumn = (name: string, role: string, level?: number): string =>
  level === undefined ? `${name}(${role})` : `${name}(${role}, ${level})`

/** @returns the role of which a column speaks; undefined when it is none of a priority array */
export const roleOfColumn = (column: string): string | undefined => NAME.exec(column)?.[2]

export type ArraySeries = { ts: Float64Array; values: Float64Array; nominalMs: number }

/**
 * One function of the array over time.
 *
 * @param column as `slotColumn` writes it
 * @param visits by role, each ascending
 * @param usualMs by role, the distance between visits; of others it is told from the visits
 * @param origin of a running sum: what it is at the first visit, which is of an earlier day than those after it
 * @returns undefined when the column is none of a priority array, or no visit to that role is kept
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

/** A visit comes to the journal this late at most: what was asked of a slow device counts from when it answered. */
const LATE_MS = 10 * MINUTE

/**
 * From when on visits since an instant change what rules see. A value counts until the next visit, so that is the visit
 * before the first of them.
 *
 * @param visits by point, each ascending
 * @returns ms; Infinity when there was none since
 */
export function earliestChange(visits: Readonly<Record<string, ArraySnapshot[]>>, since: number): number {
  const from = Object.values(visits).map(seen => {
    const first = seen.findIndex(({ t }) => t >= since - LATE_MS)
    return first < 0 ? Infinity : seen[Math.max(first - 1, 0)]!.t
  })
  return Math.min(Infinity, ...from)
}

/** The middle of the distances between visits, ms. */
export function medianInterval(visits: readonly ArraySnapshot[]): number {
  const gaps = visits.slice(1).map(({ t }, i) => t - visits[i]!.t)
  return gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? HOUR
}
