/** Averages signals over short cells of equal length, which evens out noise, irregular sampling and transport times. */
import { MINUTE } from '../time.ts'
import type { TakeInterval } from './signal-merge.ts'

export const CELL_MS = 15 * MINUTE
/** Share of a cell for which a signal must be known. */
const CELL_COVERAGE_MIN = 0.8

/** One cell; its arrays are by signal and reused for the next. */
export type Cell = {
  /** Its beginning, a whole number of `CELL_MS` since 1970 UTC. */
  at: number
  /** Part of it within the analysed span, ms. */
  lengthMs: number
  knownMs: Float64Array
  /** Time-weighted over the known time; NaN where nothing is known. */
  mean: Float64Array
  min: Float64Array
  max: Float64Array
}

/** Whether a signal is known for long enough to represent its cell. */
export const isCovered = ({ knownMs }: Cell, signal: number): boolean => knownMs[signal]! >= CELL_COVERAGE_MIN * CELL_MS

/** @param take called with each cell, in time order */
export function createCellAverager(signals: number, take: (cell: Cell) => void): { take: TakeInterval; end(): void } {
  const column = () => new Float64Array(signals)
  const sum = column()
  const cell: Cell = { at: Number.NaN, lengthMs: 0, knownMs: column(), mean: column(), min: column(), max: column() }

  const begin = (at: number) => {
    cell.at = at
    cell.lengthMs = 0
    cell.knownMs.fill(0)
    sum.fill(0)
    cell.min.fill(Number.POSITIVE_INFINITY)
    cell.max.fill(Number.NEGATIVE_INFINITY)
  }
  const end = () => {
    if (cell.lengthMs === 0) return
    for (let i = 0; i < signals; i++) cell.mean[i] = cell.knownMs[i]! > 0 ? sum[i]! / cell.knownMs[i]! : Number.NaN
    take(cell)
    cell.lengthMs = 0
  }
  const add = (ms: number, values: Float64Array) => {
    cell.lengthMs += ms
    for (let i = 0; i < signals; i++) {
      const value = values[i]!
      if (value !== value) continue
      cell.knownMs[i]! += ms
      sum[i]! += value * ms
      if (value < cell.min[i]!) cell.min[i] = value
      if (value > cell.max[i]!) cell.max[i] = value
    }
  }
  return {
    take(from, to, values) {
      for (let at = from; at < to; ) {
        const start = Math.floor(at / CELL_MS) * CELL_MS
        if (start !== cell.at) {
          end()
          begin(start)
        }
        const until = Math.min(start + CELL_MS, to)
        add(until - at, values)
        at = until
      }
    },
    end,
  }
}
