/**
 * Economizer diagnostics: the share of outdoor air from three temperatures against the position of the damper; whether the
 * damper closes when outdoor air is too warm; and the temperature at which it changes over.
 *
 * @source PNNL AIRCx (outdoor-air fraction from temperatures); ASHRAE Guideline 36-2021 5.16.14; ASHRAE 90.1 high limits
 */
import { HOUR } from '../time.ts'
import { type Cell, isCovered } from './cells.ts'
import { SIGNAL, CELL_KINDS, type CellKind, createCellClassifier, EQUAL, outdoorShare } from './economizer-cells.ts'
import { type FreeCooling, createFreeCoolingTally } from './free-cooling.ts'
import { fitLine, type FittedLine, medianOf, quantileOf } from '#shared/core/series/statistics.ts'

export type EconomizerParams = {
  /** Least difference of outdoor and return air, K. */
  dt_min: number
  /** The damper should be at its minimum above this outdoor temperature, °C. */
  high_limit: number
}
/** Identifiable cells with a damper position in `[from, to)`. */
type DamperBin = {
  from: number
  to: number
  hours: number
  /** Mean of the positions in it. */
  position: number
  /** Quantiles of the share of outdoor air. */
  low: number
  q1: number
  median: number
  q3: number
  high: number
  /** Median of share − position. */
  residual: number
}
/** One identifiable cell. */
type SharePoint = { at: number; damper: number; share: number }
export type EconomizerResult = {
  /** Hours of the span by kind of cell; they add up to the span. */
  hours: Record<CellKind, number>
  bins: DamperBin[]
  /** Line through all identifiable cells, share over position. */
  fit: FittedLine | null
  /** Share − position over identifiable cells; null when there are none. */
  residuals: { median: number; mean_abs: number } | null
  /** Hours in which the mixed air was more than a fifth outside of the range of outdoor and return air. */
  contradicting_hours: number
  /** Medians with the damper closed and fully open; null with less than an hour of either. */
  shut: { hours: number; median: number } | null
  open: { hours: number; median: number } | null
  free_cooling: FreeCooling
  /** At most `POINTS_MAX` cells, evenly selected, for a plot. */
  points: SharePoint[]
}

/** Points of a plot; more would overlap. */
const POINTS_MAX = 600
const BINS = 10
/** How far the share may be outside of 0..1 because of sensor errors. */
const BEYOND = 0.2
const SHUT = 0.05
const OPEN = 0.95

/**
 * Evaluates cells one by one. Memory grows by 24 bytes with every identifiable quarter of an hour: 1.7 MB in two years.
 *
 * @param onAbove the fan runs above this
 */
export function createEconomizerAnalysis(
  params: EconomizerParams,
  onAbove: number,
): { take(cell: Cell): void; result(): EconomizerResult } {
  const judge = createCellClassifier(params.dt_min, onAbove)
  const hours = Object.fromEntries(CELL_KINDS.map(kind => [kind, 0])) as Record<CellKind, number>
  const points: SharePoint[] = []
  const free = createFreeCoolingTally(params.high_limit)
  return {
    take(cell) {
      const kind = judge(cell)
      hours[kind] += cell.lengthMs / HOUR
      if (kind === 'identifiable') {
        points.push({ at: cell.at, damper: cell.mean[SIGNAL.oa_damper]!, share: outdoorShare(cell) })
      }
      if (cell.min[SIGNAL.fan]! > onAbove && isCovered(cell, SIGNAL.fan)) free.take(cell)
    },
    result: () => ({ hours, ...summed(points), free_cooling: free.result() }),
  }
}

function summed(points: SharePoint[]): Omit<EconomizerResult, 'hours' | 'free_cooling'> {
  const residuals = sorted(points.map(({ share, damper }) => share - damper))
  const contradicting = points.filter(({ share }) => share < -BEYOND - EQUAL || share > 1 + BEYOND + EQUAL)
  return {
    bins: binsOf(points),
    fit: fitLine(points.map(({ damper, share }) => [damper, share])),
    residuals: points.length ? { median: medianOf(residuals), mean_abs: meanAbs(residuals) } : null,
    contradicting_hours: hoursOf(contradicting.length),
    shut: medianShare(points.filter(({ damper }) => damper <= SHUT + EQUAL)),
    open: medianShare(points.filter(({ damper }) => damper >= OPEN - EQUAL)),
    points: thinned(points),
  }
}

/** All cells count fully: only the first and the last of a span can be shorter, and these are not covered. */
const hoursOf = (cells: number) => cells / 4
const sorted = (values: number[]) => Float64Array.from(values).toSorted()
const meanAbs = (values: Float64Array) => values.reduce((sum, value) => sum + Math.abs(value), 0) / values.length

/** @returns the median share; null for less than an hour */
function medianShare(points: SharePoint[]): { hours: number; median: number } | null {
  const hours = hoursOf(points.length)
  return hours >= 1 ? { hours, median: medianOf(points.map(({ share }) => share)) } : null
}

/** A position on the edge of two bins belongs to the upper one, whatever its last digit. */
const binOf = (damper: number) => Math.min(BINS - 1, Math.max(0, Math.floor((damper + EQUAL) * BINS)))

function binsOf(points: SharePoint[]): DamperBin[] {
  const byBin = Map.groupBy(points, ({ damper }) => binOf(damper))
  return [...byBin]
    .toSorted(([a], [b]) => a - b)
    .map(([bin, inside]) => {
      const shares = sorted(inside.map(({ share }) => share))
      const residuals = sorted(inside.map(({ share, damper }) => share - damper))
      const at = (share: number) => quantileOf(shares, shares.length, share)
      return {
        from: bin / BINS,
        to: (bin + 1) / BINS,
        hours: hoursOf(inside.length),
        position: inside.reduce((sum, { damper }) => sum + damper, 0) / inside.length,
        low: at(0.05),
        q1: at(0.25),
        median: at(0.5),
        q3: at(0.75),
        high: at(0.95),
        residual: medianOf(residuals),
      }
    })
}

function thinned(points: SharePoint[]): SharePoint[] {
  const kept = Math.min(points.length, POINTS_MAX)
  return Array.from({ length: kept }, (_, i) => points[Math.floor((i * points.length) / kept)]!)
}
