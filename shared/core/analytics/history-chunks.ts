/** Splits history into chunks that fit into memory. */
import type { PointSpan } from '#shared/core/ports.ts'

/** Samples in memory at once: 16 MB. */
export const CHUNK_SAMPLES = 1_000_000

type HistoryChunk = { from: number; to: number }

/**
 * Splits a span at the boundaries of the sealed files, the months of UTC, and further where a month holds too much.
 *
 * @param perMs expected samples per millisecond, of all points together
 * @returns chunks in time order that cover `[from, to)`
 */
export function historyChunks(from: number, to: number, perMs: number): HistoryChunk[] {
  const longest = Math.max(1, Math.floor(CHUNK_SAMPLES / perMs))
  const pieces: HistoryChunk[] = []
  for (let at = from; at < to; ) {
    const end = Math.min(nextMonth(at), at + longest, to)
    pieces.push({ from: at, to: end })
    at = end
  }
  return pieces
}

/** Expected samples per ms of all points together, if each is spread evenly over its stored span. */
export const densityOf = (spans: readonly PointSpan[]): number =>
  spans.reduce((sum, { samples, first, last }) => sum + samples / Math.max(1, last - first), 0)

function nextMonth(ms: number): number {
  const date = new Date(ms)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}
