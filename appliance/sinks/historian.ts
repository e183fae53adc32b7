import type { Historian, Sink } from '#shared/core/ports.ts'
import { toNumber } from '#shared/core/reading.ts'

/**
 * Keeps readings in the building's history, in the points' own units.
 *
 * @param statesOf the texts that stand for numbers at a point; a value that has no number is kept as *no data* (NaN)
 */
export function historianSink(
  historian: Historian,
  building_id: string,
  statesOf: (point_id: string) => string[] | undefined,
): Sink {
  return {
    async write(readings) {
      const rows = readings.map(({ id, t, v }) => ({ id, t, v: toNumber(v, statesOf(id)) }))
      await historian.append(building_id, rows)
    },
  }
}
