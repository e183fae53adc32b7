/** How far an edge's clock is from the hub's, from messages and their acknowledgements. */
import { SECOND } from '#shared/core/time.ts'

/** An answer that took longer says too little: the offset is known to half of that. */
const ROUND_TRIP_MAX_MS = 10 * SECOND
/** After this the clocks may have drifted or been set, and a slower answer counts again. */
const BELIEVED_MS = 600 * SECOND
/** Messages on the way that are remembered; the window is smaller. */
const ON_THE_WAY_MAX = 200

/**
 * Of the answers of ten minutes the quickest counts. A message that was sent twice tells nothing, because nobody knows which
 * of the two was answered.
 *
 * @source Mills, RFC 5905, 8: offset from four instants, of which the hub's two are one here; Karn and Partridge 1987
 */
export function clockOffsetMeter() {
  const onTheWay = new Map<number, number>()
  let best: { offset: number; roundTrip: number; at: number } | undefined
  return {
    /** @param at ms of the edge's clock */
    sent(seq: number, at: number): void {
      if (onTheWay.size >= ON_THE_WAY_MAX) onTheWay.clear()
      onTheWay.set(seq, onTheWay.has(seq) ? Number.NaN : at)
    },
    /** @param hubAt what the hub's clock said as it answered; both ms since 1970 UTC */
    answered(seq: number, hubAt: number, at: number): void {
      const roundTrip = at - (onTheWay.get(seq) ?? Number.NaN)
      for (const one of onTheWay.keys()) if (one <= seq) onTheWay.delete(one)
      if (!(roundTrip >= 0 && roundTrip <= ROUND_TRIP_MAX_MS)) return
      if (best && roundTrip > best.roundTrip && Math.abs(at - best.at) < BELIEVED_MS) return
      best = { offset: Math.round(at - roundTrip / 2 - hubAt), roundTrip, at }
    },
    /** ms by which the edge's clock is ahead of the hub's; null before it is known. */
    offset: (): number | null => best?.offset ?? null,
  }
}
