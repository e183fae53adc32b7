/** Who held a point while a plot looks at it. */
import { activeSlot, medianInterval, type ArraySnapshot, VALID_INTERVALS } from './array-snapshot.ts'

/** Between visits that saw the same. `value` is in the unit of the visits; NaN where it is no figure. */
export type OverridePeriod = { from: number; to: number; slot: number; value: number }

/**
 * The stretches in which a point was overridden, as two visits in a row saw it.
 *
 * @param visits ascending
 * @returns ascending, without overlaps; visits that differ, or lie too far apart, leave a hole
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
