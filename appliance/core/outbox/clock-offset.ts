/** Measures by how much the clocks of edge and hub differ, from messages and their acknowledgements. */
import { SECOND } from '#shared/core/time.ts'

/** A slower answer is discarded: it gives the offset only to half of its round trip. */
const ROUND_TRIP_MAX_MS = 10 * SECOND
/** After this time the clocks may have drifted or been set, so a slower answer may replace the best one. */
const VALID_MS = 600 * SECOND
/** Most messages in flight that are tracked; more than the send window holds. */
const IN_FLIGHT_MAX = 200

/**
 * Uses the quickest answer of the last ten minutes. A message that was sent twice is not used, because its answer may belong
 * to either.
 *
 * @source Mills, RFC 5905, 8: offset from four instants, of which the hub's two are one here; Karn and Partridge 1987
 */
export function clockOffsetMeter() {
  const inFlight = new Map<number, number>()
  let best: { offset: number; roundTrip: number; at: number } | undefined
  return {
    /** @param at time of the edge's clock, ms */
    sent(seq: number, at: number): void {
      if (inFlight.size >= IN_FLIGHT_MAX) inFlight.clear()
      inFlight.set(seq, inFlight.has(seq) ? Number.NaN : at)
    },
    /** @param hubAt time of the hub's clock when it answered; both ms since 1970 UTC */
    answered(seq: number, hubAt: number, at: number): void {
      const roundTrip = at - (inFlight.get(seq) ?? Number.NaN)
      for (const one of inFlight.keys()) if (one <= seq) inFlight.delete(one)
      if (!(roundTrip >= 0 && roundTrip <= ROUND_TRIP_MAX_MS)) return
      if (best && roundTrip > best.roundTrip && Math.abs(at - best.at) < VALID_MS) return
      best = { offset: Math.round(at - roundTrip / 2 - hubAt), roundTrip, at }
    },
    /** How far the edge's clock is ahead of the hub's, ms; null while that is unknown. */
    offset: (): number | null => best?.offset ?? null,
  }
}
