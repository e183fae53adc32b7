/**
 * Merges several signals into intervals in which none of them changes. All results of the analytics are sums over these
 * intervals.
 */
import type { Series } from '#shared/core/series/series.ts'

/** Takes an interval `[from, to)`, ms; `values[i]` is the value of signal i, NaN where it is not known. The array is reused. */
export type TakeInterval = (from: number, to: number, values: Float64Array) => void

type SignalMerge = {
  /**
   * Advances to `to` and passes on every interval until then.
   *
   * @param series by signal: its samples before `to` that were not given before; those at or before the start give the
   *   values at the start
   */
  advance(series: readonly Series[], to: number): void
}

/**
 * Memory is one sample of each signal, however long the span: history can be given in chunks of any length.
 *
 * @param from start of the first interval, ms
 * @param holdsMs by signal: how long a sample is valid when no other follows
 * @param take called with intervals that follow each other without a gap
 */
export function createSignalMerge(from: number, holdsMs: readonly number[], take: TakeInterval): SignalMerge {
  const values = new Float64Array(holdsMs.length).fill(Number.NaN)
  /** By signal: the instant until which its value is valid. */
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
