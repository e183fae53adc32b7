/** The sink that stores readings in the history of the building, in the units of the points. */
import { misdatedRows, separateMisdated } from '#shared/core/telemetry/misdated.ts'
import type { Clock, Historian, Sink } from '#shared/core/ports.ts'
import { type Reading, toNumber } from '#shared/core/telemetry/reading.ts'
import type { MisdatedStore } from '#shared/core/stores.ts'

type HistorianSinkDeps = {
  historian: Historian
  /** Stores readings with an implausible time, such as those read before the clock was set. */
  misdated: MisdatedStore
  building_id: string
  /** The state texts of a point that stand for numbers. A value without a number is stored as *no data* (NaN). */
  statesOf: (point_id: string) => string[] | undefined
  clock: Clock
  /** When the running version was made, ms since 1970 UTC; undefined where that says nothing about the clock. */
  notBefore: () => number | undefined
  /** Throws while the disk is too full to store readings. */
  needRoom: () => void
}

export function historianSink(deps: HistorianSinkDeps): Sink {
  const { historian, misdated, building_id, statesOf, clock, notBefore, needRoom } = deps
  const numberOf = ({ id, v }: Reading) => toNumber(v, statesOf(id))
  return {
    async write(readings) {
      needRoom()
      const now = clock.now()
      const { dated, misdated: apart } = separateMisdated(readings, now, notBefore())
      misdated.keep(misdatedRows(apart, numberOf, { building_id, edge_id: null, arrived_at: now }))
      await historian.append(
        building_id,
        dated.map(reading => ({ id: reading.id, t: reading.t, v: numberOf(reading) })),
      )
    },
  }
}
