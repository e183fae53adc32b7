/** Classifies each quarter of an hour of an air handler: whether it can be analysed, and if not, the reason. */
import { type Cell, CELL_MS, isCovered } from './cells.ts'

/** The order of the signals. The last two are optional. */
export const ECONOMIZER_ROLES = ['oa_t', 'ra_t', 'ma_t', 'oa_damper', 'fan', 'clg_valve', 'oa_damper_min'] as const
type EconomizerRole = (typeof ECONOMIZER_ROLES)[number]
/** Index of each role among the signals. */
export const SIGNAL = Object.fromEntries(ECONOMIZER_ROLES.map((role, i) => [role, i])) as Record<EconomizerRole, number>

/** The kind of a cell; the first that applies. */
export const CELL_KINDS = ['no_data', 'off', 'settling', 'moving', 'small_difference', 'identifiable'] as const
export type CellKind = (typeof CELL_KINDS)[number]

/**
 * Least difference of outdoor and return air, K: with sensors that are 0.5 K off, the share is then 0.15 off at most.
 *
 * @source ASHRAE Guideline 36-2021 5.16.14, ΔTMIN 10 °F; NISTIR 6964 (APAR), 10 °F
 */
export const DT_MIN = 5.6
/** A damper that travels further within a cell has no definite position. */
const TRAVEL_MAX = 0.1
/** Values closer than this are equal, as in the rules: a mean of equal values may differ in its last digit. */
export const EQUAL = 1e-9

const NEEDED = [SIGNAL.oa_t, SIGNAL.ra_t, SIGNAL.ma_t, SIGNAL.oa_damper]

/** @param onAbove the fan runs above this */
export function createCellClassifier(dtMin: number, onAbove: number): (cell: Cell) => CellKind {
  let ranUntil = Number.NaN
  return cell => {
    if (!isCovered(cell, SIGNAL.fan)) return 'no_data'
    const ran = cell.min[SIGNAL.fan]! > onAbove
    const settled = ranUntil === cell.at
    if (ran) ranUntil = cell.at + CELL_MS
    if (cell.max[SIGNAL.fan]! <= onAbove) return 'off'
    if (!NEEDED.every(i => isCovered(cell, i))) return 'no_data'
    if (!ran || !settled) return 'settling'
    if (cell.max[SIGNAL.oa_damper]! - cell.min[SIGNAL.oa_damper]! > TRAVEL_MAX + EQUAL) return 'moving'
    return Math.abs(cell.mean[SIGNAL.oa_t]! - cell.mean[SIGNAL.ra_t]!) < dtMin - EQUAL ? 'small_difference' : 'identifiable'
  }
}

/**
 * Share of outdoor air in the mixed air of an identifiable cell; outside of 0..1 when the three temperatures contradict each
 * other.
 */
export const outdoorShare = ({ mean }: Cell): number =>
  (mean[SIGNAL.ma_t]! - mean[SIGNAL.ra_t]!) / (mean[SIGNAL.oa_t]! - mean[SIGNAL.ra_t]!)
