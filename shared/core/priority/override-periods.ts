/** The periods in which a point was overridden, for plots. */
import { activeSlot, medianInterval, type ArraySnapshot, VALID_INTERVALS } from './array-snapshot.ts'

/** Between snapshots with the same override. `value` is in the unit of the snapshots; NaN when it is no number. */
export type OverridePeriod = { from: number; to: number; slot: number; value: number }

/**
 * Finds the periods in which successive snapshots show the same override.
 *
 * @param visits ascending
 * @returns ascending, without overlaps; snapshots that differ or are too far apart leave a gap
 */
export function overridePeriods(visits: readonly ArraySnapshot[]): OverridePeriod[] {
  const farthest = VALID_INTERVALS * medianInterval(visits)
  const held: OverridePeriod[] = []
  for (const [i, visit] of visits.entries()) {
    const next = visits[i + 1]
    const slot = activeSlot(visit)
    if (!next || !visit.overridden || !next.overridden || activeSlot(next) !== slot || next.t - visit.t > farthest) continue
    const value = visit.slots[slot - 1] ?? Number.NaN
    const later = next.slots[slot - 1] ?? Number.NaN
    if (!Object.is(value, later)) continue
    const last = held.at(-1)
    if (last && last.to === visit.t && last.slot === slot && Object.is(last.value, value)) last.to = next.t
    else held.push({ from: visit.t, to: next.t, slot, value })
  }
  return held
}
