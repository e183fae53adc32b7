/** Plausible instants. A reading with an implausible time is stored separately from history, with quality `clock`. */
import type { Finding } from '#shared/core/findings/finding.ts'
import type { Reading } from './reading.ts'
import type { MisdatedReading } from '#shared/core/stores.ts'
import { formatInstant, INSTANT_END, MINUTE } from '#shared/core/time.ts'

/**
 * No controller that is still read has samples from before 2000. A clock that lost its battery starts in 1970, 1980 or 1984.
 *
 * @source the epochs of Unix, FAT and the first real-time clocks
 */
const EARLIEST_MS = Date.UTC(2000, 0, 1)
/** Clocks of controllers drift by minutes a month, so a reading may be a little ahead of the clock of the machine that takes it. */
const AHEAD_MAX_MS = 5 * MINUTE

/**
 * The first plausible instant of what a version has read: it was made before, so an earlier time is of a clock that was wrong.
 *
 * @param notBefore when the version was made, ms since 1970 UTC; undefined where nobody knows
 */
const earliestPlausible = (notBefore: number | undefined): number => Math.max(EARLIEST_MS, notBefore ?? EARLIEST_MS)

/**
 * Whether the clock of a machine was ever set: one that was not says 1970 or a little later, and cannot judge other clocks.
 *
 * @param notBefore when the version that runs there was made, ms since 1970 UTC
 */
export const isClockSet = (now: number, notBefore?: number): boolean => now >= earliestPlausible(notBefore)

/**
 * The last plausible instant for a machine whose clock shows `now`, ms since 1970 UTC. What was read before a power cut took the
 * clock away is not ahead of anything.
 */
export const latestPlausible = (now: number, notBefore?: number): number =>
  isClockSet(now, notBefore) ? now + AHEAD_MAX_MS : INSTANT_END

/** @param latest as `latestPlausible` gives it */
export const isPlausibleTime = (t: number, latest: number, notBefore?: number): boolean =>
  t >= earliestPlausible(notBefore) && t <= latest

/**
 * @param notBefore when the version that read it was made, ms since 1970 UTC
 * @returns why `t` cannot be right, in words; undefined when it can be
 */
export function implausibleTime(t: number, now: number, notBefore?: number): string | undefined {
  const earliest = earliestPlausible(notBefore)
  const meaning = earliest === EARLIEST_MS ? '' : ', when the version that read it was made'
  if (t < earliest) return `${formatInstant(t)} is before ${formatInstant(earliest)}${meaning}`
  if (t <= latestPlausible(now, notBefore)) return undefined
  return `${formatInstant(t)} is more than ${AHEAD_MAX_MS / MINUTE} minutes ahead of the clock here, ${formatInstant(now)}`
}

/**
 * @param now ms of the clock of the machine that takes them in
 * @param notBefore when the version that read them was made, ms since 1970 UTC
 */
export function separateMisdated<R extends Reading>(
  readings: R[],
  now: number,
  notBefore?: number,
): { dated: R[]; misdated: R[] } {
  const latest = latestPlausible(now, notBefore)
  const isDated = ({ t }: R) => isPlausibleTime(t, latest, notBefore)
  if (readings.every(isDated)) return { dated: readings, misdated: [] }
  return { dated: readings.filter(isDated), misdated: readings.filter(reading => !isDated(reading)) }
}

/** @returns why the times of a finding cannot be right, in words; undefined when they can be */
export function misdatedFinding({ from, to, confirmed_at, evidence }: Finding, now: number): string | undefined {
  const times = Object.entries({ from, to: to ?? from, confirmed_at, worst_at: evidence.worst_at })
  return times.flatMap(([name, t]) => {
    const why = implausibleTime(t, now)
    return why === undefined ? [] : [`${name} ${why}`]
  })[0]
}

/** @param numberOf the number that history would store; NaN where there is none */
export const misdatedRows = <R extends Reading>(
  readings: readonly R[],
  numberOf: (reading: R) => number,
  arrival: Pick<MisdatedReading, 'building_id' | 'edge_id' | 'arrived_at'>,
): MisdatedReading[] =>
  readings.map(reading => {
    const value = numberOf(reading)
    const { id: point_id, t: observed_at, q: quality } = reading
    return { ...arrival, point_id, observed_at, value: Number.isFinite(value) ? value : null, quality }
  })
