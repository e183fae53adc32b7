/** Several signals as one: the stretches of time in which none of them changes. Every figure of analytics is a sum of these. */
import type { Series } from '#shared/core/series/series.ts'

/** Takes `[from, to)`, ms; `values[i]` is what signal i was then, NaN where that is not known. The array is reused. */
export type TakeInterval = (from: number, to: number, values: Float64Array) => void

type SignalMerge = {
  /**
   * Goes on to `to`, handing over every stretch until then.
   *
   * @param series by signal: its samples before `to` that were not given before; those at or before the start say what
   *   held at the start
   */
  advance(series: readonly Series[], to: number): void
}

/**
 * Memory is one sample of each signal, however long the walk: history may be handed over in pieces of any length.
 *
 * @param from the first stretch begins here, ms
 * @param holdsMs by signal: how long a sample is known when no other follows
 * @param take called with stretches that follow each other without a hole
 */
export function createSignalMerge(from: number, holdsMs: readonly number[], take: TakeInterval): SignalMerge {
  const values = new Float64Array(holdsMs.length).fill(Number.NaN)
  /** By signal: the instant at which what is known of it is no longer so. */
  const until = new Float64Array(holdsMs.length).fill(Number.POSITIVE_INFINITY)
  let now = from

  const nextChange = (series: readonly Series[], at: Int32Array, to: number): number => {
    let next = to
    for (const [i, { ts }] of series.entries()) {
      const sample = ts[at[i]!]
      if (sample !== undefined && sample < next) next = sample
      if (until[i]! < next) next = until[i]!
    }
    return next
  }
  const change = (series: readonly Series[], at: Int32Array) => {
    for (const [i, { ts, values: read }] of series.entries()) {
      for (; ts[at[i]!]! <= now; at[i]!++) {
        values[i] = read[at[i]!]!
        until[i] = ts[at[i]!]! + holdsMs[i]!
      }
      if (until[i]! <= now) {
        values[i] = Number.NaN
        until[i] = Number.POSITIVE_INFINITY
      }
    }
  }
  return {
    advance(series, to) {
      const at = new Int32Array(series.length)
      change(series, at)
      while (now < to) {
        const next = nextChange(series, at, to)
        if (next > now) take(now, next, values)
        now = next
        change(series, at)
      }
    },
  }
}
