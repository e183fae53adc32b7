/** What is left of readings for which there is no room: one value for each point and quarter of an hour (contract §8). */
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { MINUTE } from '#shared/core/time.ts'

const EVERY_MS = 15 * MINUTE

/**
 * Nothing is reckoned: what is kept is what a device said, and when.
 *
 * @returns of each point the first good reading in each quarter of an hour (UTC), or the first where none is good; in the order of `readings`
 */
export function thinReadings(readings: readonly Reading[]): Reading[] {
  const kept = new Map<string, number>()
  for (const [i, { id, t, q }] of readings.entries()) {
    const place = `${id} ${Math.floor(t / EVERY_MS)}`
    const before = kept.get(place)
    const better = before === undefined || (readings[before]!.q !== 'good' && q === 'good')
    if (better) kept.set(place, i)
  }
  return [...kept.values()].toSorted((a, b) => a - b).map(i => readings[i]!)
}
