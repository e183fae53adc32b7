/** Commands to the points of the simulated site, by its programs and now and then by people. */
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import type { Commands } from '../bacnet/objects.ts'
import type { SimPoint } from './points.ts'

/** Manual life safety, critical equipment control, manual operator, and where the programs write. */
const [LIFE_SAFETY, CRITICAL, OPERATOR, PROGRAM] = [1, 5, 8, 16]

export type Override = {
  point_id: string
  level: number
  /** In words, for the person who watches. */
  says: string
  /** Lasts over `[from, to)`, ms after the site's first moment; without `to` it stays. */
  from: number
  to?: number
}

/**
 * Overrides of people. Their value is the one that the point has anyway, so that the building behaves as before, and none of it is read by
 * a rule that is to find a fault of the script: an override explains what it causes.
 */
export const OVERRIDES: readonly Override[] = [
  // Since long before anybody looked.
  { point_id: 'VAV-101.zone_flow_min', level: OPERATOR, says: 'air flow minimum held by an operator', from: -30 * DAY },
  { point_id: 'VAV-101.reheat_valve', level: CRITICAL, says: 'reheat valve held to protect equipment', from: 90 * MINUTE },
  {
    point_id: 'AHU-1.duct_static_sp',
    level: OPERATOR,
    says: 'duct static pressure set point held by an operator',
    from: 2 * HOUR,
    to: 6 * HOUR,
  },
  { point_id: 'VAV-101.damper', level: LIFE_SAFETY, says: 'damper held for life safety', from: 3 * HOUR, to: 4 * HOUR },
]

/** Relinquish default of the point, in its own unit; outputs fall back to shut and off. */
const DEFAULTS: Record<string, number> = {
  'AHU-1.duct_static_sp': 1,
  'VAV-101.zone_flow_min': 150,
}

/**
 * @param read the point's value now
 * @param since ms since the site's first moment, now
 * @returns undefined for a point that nothing commands
 */
export function commandsOf(
  { point_id, at }: SimPoint,
  read: () => number,
  since: () => number,
  overrides = OVERRIDES,
): Commands | undefined {
  if (at.bus !== 'bacnet' || !['AO', 'AV', 'BO', 'BV'].includes(at.object)) return undefined
  const held = overrides.filter(one => one.point_id === point_id)
  return {
    level(level) {
      const now = since()
      const isHeld = held.some(one => one.level === level && now >= one.from && now < (one.to ?? Infinity))
      return isHeld || level === PROGRAM ? read() : null
    },
    relinquishDefault: DEFAULTS[point_id] ?? 0,
  }
}
