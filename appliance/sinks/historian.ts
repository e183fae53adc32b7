import type { Historian, Sink } from '#shared/core/ports.ts'
import { toNumber } from '#shared/core/reading.ts'

/**
 * Keeps readings in the building's history, in the points' own units.
 *
 * @param points `states` turn texts into numbers; a value that has no number is kept as *no data* (NaN)
 */
export function historianSink(
  historian: Historian,
  building_id: string,
  points: readonly { point_id: string; states?: string[] }[],
): Sink {
  const states = new Map(points.map(point => [point.point_id, point.states]))
  return {
    async write(readings) {
      const rows = readings.map(({ id, t, v }) => ({ id, t, v: toNumber(v, states.get(id)) }))
      await historian.append(building_id, rows)
    },
  }
}
