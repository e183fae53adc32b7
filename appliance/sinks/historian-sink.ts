import { misdatedRows, separateMisdated } from '#shared/core/telemetry/misdated.ts'
import type { Clock, Historian, Sink } from '#shared/core/ports.ts'
import { type Reading, toNumber } from '#shared/core/telemetry/reading.ts'
import type { MisdatedStore } from '#shared/core/stores.ts'

export type HistorianSinkParts = {
  historian: Historian
  /** Takes what the clock here does not believe, such as everything that was read before the clock was set. */
  misdated: MisdatedStore
  building_id: string
  /** The texts that stand for numbers at a point; a value that has no number is kept as *no data* (NaN). */
  statesOf: (point_id: string) => string[] | undefined
  clock: Clock
  /** Throws while readings have to wait, because the disk is full. */
  needRoom: () => void
}

/** Keeps readings in the building's history, in the points' own units. */
export function historianSink({ historian, misdated, building_id, statesOf, clock, needRoom }: HistorianSinkParts): Sink {
  const numberOf = ({ id, v }: Reading) => toNumber(v, statesOf(id))
  return {
    async write(readings) {
      needRoom()
      const now = clock.now()
      const { dated, misdated: apart } = separateMisdated(readings, now)
      misdated.keep(misdatedRows(apart, numberOf, { building_id, edge_id: null, arrived_at: now }))
      await historian.append(
        building_id,
        dated.map(reading => ({ id: reading.id, t: reading.t, v: numberOf(reading) })),
      )
    },
  }
}
