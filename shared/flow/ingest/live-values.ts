/** The newest readings of edges that send a backlog, in memory alone. */
import { createBudget } from '#shared/core/budget.ts'
import { implausibleTime } from '#shared/core/telemetry/misdated.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'
import { MINUTE } from '#shared/core/time.ts'

/** An edge with a backlog sends its newest readings every 15 s, so after this time they are no longer the newest. */
const SHOWN_MS = 2 * MINUTE
/** Room of a reading beside its text, bytes. */
const READING_BYTES = 100
/** Most bytes of readings that are held, of one building (some 20,000 readings of short ids) and of all. What is beyond is shown when it is stored. */
const PER_BUILDING_MAX = 20_000 * READING_BYTES
const ALL_MAX = 200_000 * READING_BYTES

type Held = { arrivedAt: number; readings: Map<string, Reading> }

export class LiveValues {
  readonly #byBuilding = new Map<string, Held>()
  readonly #bytes = createBudget(PER_BUILDING_MAX, ALL_MAX)

  record(building_id: string, readings: readonly Reading[], now: number): void {
    this.#forgetOlder(now)
    const held = this.#byBuilding.get(building_id) ?? { arrivedAt: now, readings: new Map<string, Reading>() }
    this.#byBuilding.set(building_id, held)
    held.arrivedAt = now
    for (const reading of readings) {
      if (implausibleTime(reading.t, now) !== undefined) continue
      const before = held.readings.get(reading.id)
      if (!this.#bytes.take(building_id, bytesOf(reading) - (before ? bytesOf(before) : 0))) continue
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
      for (const reading of readings.values()) this.#bytes.give(building_id, bytesOf(reading))
    }
  }
}

/** A character takes up to two bytes. */
const bytesOf = ({ id, v }: Reading): number => READING_BYTES + 2 * (id.length + (typeof v === 'string' ? v.length : 0))
