/** A sender may say in which unit a value is; what is stored is in the unit that the point was declared with. */
import type { Point } from '#shared/core/model/model.ts'
import { unitCode } from '#shared/core/model/unit.ts'
import type { Refused } from './read.ts'
import type { StatedReading } from './telemetry.ts'

/**
 * Refuses readings that are said to be in another unit than their point's: stored as they come they would be wrong.
 *
 * @param pointsOf asked only where a unit is said
 */
export function refuseOtherUnits<T extends { readings: StatedReading[]; refused: Refused[] }>(
  received: T,
  pointsOf: () => readonly Point[],
): T {
  if (received.readings.every(({ u }) => u === undefined)) return received
  const declared = new Map(pointsOf().map(({ point_id, unit }) => [point_id, unit]))
  const isOther = ({ id, u }: StatedReading) => u !== undefined && declared.has(id) && (unitCode(u) ?? u) !== declared.get(id)
  const refused = received.readings.filter(isOther).map(({ id, u }) => ({
    pointer: `points[id=${id}]`,
    reason: `u is ${u}, and ${id} was declared in ${declared.get(id)}`,
  }))
  return {
    ...received,
    readings: received.readings.filter(reading => !isOther(reading)),
    refused: [...received.refused, ...refused],
  }
}
