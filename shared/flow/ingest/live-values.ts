/** The newest readings of edges that send a backlog, in memory alone. */
import { implausibleTime } from '#shared/core/telemetry/misdated.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { MINUTE } from '#shared/core/time.ts'

/** An edge with a backlog sends its newest readings every 15 s, so after this time they are no longer the newest. */
const SHOWN_MS = 2 * MINUTE
/** Most readings that are held: some 100 bytes each. What is beyond is shown when it is stored. */
const HELD_MAX = 200_000

type Held = { arrivedAt: number; readings: Map<string, Reading> }

export class LiveValues {
  readonly #byBuilding = new Map<string, Held>()
  #held = 0

  record(building_id: string, readings: readonly Reading[], now: number): void {
    this.#forgetOlder(now)
    const held = this.#byBuilding.get(building_id) ?? { arrivedAt: now, readings: new Map<string, Reading>() }
    this.#byBuilding.set(building_id, held)
    held.arrivedAt = now
    for (const reading of readings) {
      if (implausibleTime(reading.t, now) !== undefined) continue
      if (!held.readings.has(reading.id)) {
        if (this.#held >= HELD_MAX) continue
        this.#held++
      }
      held.readings.set(reading.id, reading)
    }
  }

  /** @returns undefined where none arrived in the last two minutes */
  of(building_id: string, point_id: string, now: number): Reading | undefined {
    const held = this.#byBuilding.get(building_id)
    return held && now - held.arrivedAt <= SHOWN_MS ? held.readings.get(point_id) : undefined
  }

  #forgetOlder(now: number): void {
    for (const [building_id, { arrivedAt, readings }] of this.#byBuilding) {
      if (Math.abs(now - arrivedAt) <= SHOWN_MS) continue
      this.#byBuilding.delete(building_id)
      this.#held -= readings.size
    }
  }
}
