/** Measures by how much the clocks of edge and hub differ, from what the edge sends and the hub's answers to it. */
import { SECOND } from '#shared/core/time.ts'

/** A slower answer is discarded: it gives the offset only to half of its round trip. */
const ROUND_TRIP_MAX_MS = 10 * SECOND
/** After this time the clocks may have drifted or been set, so a slower answer may replace the best one. */
const VALID_MS = 600 * SECOND
/** Most messages in flight that are tracked; more than the send window holds. */
const IN_FLIGHT_MAX = 200

export type ClockOffsetMeter = {
  /** Messages of the stream, by their number. */
  messages: Exchanges
  /** Statuses, by the time at which they were sent. */
  statuses: Exchanges
  /** How far the edge's clock is ahead of the hub's, ms; null while that is unknown. */
  offset(): number | null
}

/** What is sent of one kind, in the order of its numbers. Times are ms since 1970 UTC. */
type Exchanges = {
  /** @param at time of the edge's clock */
  sent(number: number, at: number): void
  /** @param hubAt time of the hub's clock when it answered this and everything before it; `at` of the edge's when the answer came */
  answered(number: number, hubAt: number, at: number): void
}

/**
 * Uses the quickest answer of the last ten minutes. A message that was sent twice is not used, because its answer may belong
 * to either.
 *
 * @source Mills, RFC 5905, 8: offset from four instants, of which the hub's two are one here; Karn and Partridge 1987
 */
export function clockOffsetMeter(): ClockOffsetMeter {
  let best: { offset: number; roundTrip: number; at: number } | undefined
  const use = (roundTrip: number, hubAt: number, at: number) => {
    if (!(roundTrip >= 0 && roundTrip <= ROUND_TRIP_MAX_MS)) return
    if (best && roundTrip > best.roundTrip && Math.abs(at - best.at) < VALID_MS) return
    best = { offset: Math.round(at - roundTrip / 2 - hubAt), roundTrip, at }
  }
  return {
    messages: exchanges(use),
    statuses: exchanges(use),
    offset: () => best?.offset ?? null,
  }
}

function exchanges(use: (roundTrip: number, hubAt: number, at: number) => void): Exchanges {
  const inFlight = new Map<number, number>()
  return {
    sent(number, at) {
      if (inFlight.size >= IN_FLIGHT_MAX) inFlight.clear()
      inFlight.set(number, inFlight.has(number) ? Number.NaN : at)
    },
    answered(number, hubAt, at) {
      const roundTrip = at - (inFlight.get(number) ?? Number.NaN)
      for (const one of inFlight.keys()) if (one <= number) inFlight.delete(one)
      use(roundTrip, hubAt, at)
    },
  }
}
