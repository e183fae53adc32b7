/** How an air handler uses outdoor air for cooling: above the high limit, below it, and at which temperature it changes over. */
import { HOUR } from '../time.ts'
import { type Cell, isCovered } from './cells.ts'
import { SIGNAL, EQUAL } from './economizer-cells.ts'

/** Running hours by outdoor temperature, `[from, from + 1)` °C. */
type TemperatureBin = { from: number; hours: number; damper: number; cooling_hours: number }
export type FreeCooling = {
  /** Running hours above the high limit, and those of them with the damper above its minimum. */
  above_limit_hours: number
  above_limit_open_hours: number
  /** Running hours in which outdoor air can cool: 3 K below return air, from 4 to 17 °C. */
  suitable_hours: number
  /** Those of them in which it was used, and those in which the cooling valve was open and the damper less than half. */
  used_hours: number
  missed_hours: number
  /** Outdoor temperature, °C, above which the damper is less than half open; null when this was not observed. */
  changeover: number | null
  bins: TemperatureBin[]
}

/** The highest dry-bulb limit of ASHRAE 90.1, °C; the default of the rule AHU-ECON-HIGH-LIMIT. */
export const HIGH_LIMIT = 24
/** Minimum position where none is known, and how far above it a damper counts as open: as in that rule. */
const MINIMUM = 0.3
const OVER = 0.2
/** When outdoor air can cool, °C and K: as in the rule AHU-ECON-MISSED. */
export const SUITABLE = { from: 4, to: 17, closer: 3 }
const HALF = 0.5
const VALVE_OPEN = 0.1
/** Least hours at a degree before it is used for the changeover. */
const BIN_HOURS = 1

type Sums = { ms: number; damperMs: number; coolingMs: number }

/** Takes cells in which the fan ran. Signals that are not covered in a cell are not counted. */
export function createFreeCoolingTally(highLimit: number): { take(cell: Cell): void; result(): FreeCooling } {
  const sum = { above: 0, aboveOpen: 0, suitable: 0, used: 0, missed: 0 }
  const byDegree = new Map<number, Sums>()
  return {
    take(cell) {
      if (!isCovered(cell, SIGNAL.oa_t) || !isCovered(cell, SIGNAL.oa_damper)) return
      const [outdoor, damper] = [cell.mean[SIGNAL.oa_t]!, cell.mean[SIGNAL.oa_damper]!]
      const minimum = isCovered(cell, SIGNAL.oa_damper_min) ? cell.mean[SIGNAL.oa_damper_min]! : MINIMUM
      const cools = isCovered(cell, SIGNAL.clg_valve) && cell.mean[SIGNAL.clg_valve]! > VALVE_OPEN + EQUAL
      const open = damper > minimum + OVER + EQUAL
      if (outdoor > highLimit + EQUAL) {
        sum.above += cell.lengthMs
        if (open) sum.aboveOpen += cell.lengthMs
      }
      if (isCovered(cell, SIGNAL.ra_t) && isSuitable(outdoor, cell.mean[SIGNAL.ra_t]!)) {
        sum.suitable += cell.lengthMs
        if (cools && damper < HALF - EQUAL) sum.missed += cell.lengthMs
        else if (open) sum.used += cell.lengthMs
      }
      addTo(byDegree, Math.floor(outdoor + EQUAL), cell.lengthMs, damper, cools)
    },
    result() {
      const bins = binsOf(byDegree)
      return {
        above_limit_hours: sum.above / HOUR,
        above_limit_open_hours: sum.aboveOpen / HOUR,
        suitable_hours: sum.suitable / HOUR,
        used_hours: sum.used / HOUR,
        missed_hours: sum.missed / HOUR,
        changeover: changeoverOf(bins),
        bins,
      }
    },
  }
}

const isSuitable = (outdoor: number, back: number) =>
  outdoor > SUITABLE.from + EQUAL && outdoor < SUITABLE.to - EQUAL && outdoor < back - SUITABLE.closer - EQUAL

function addTo(byDegree: Map<number, Sums>, degree: number, ms: number, damper: number, cools: boolean): void {
  const sums = byDegree.get(degree) ?? { ms: 0, damperMs: 0, coolingMs: 0 }
  sums.ms += ms
  sums.damperMs += damper * ms
  if (cools) sums.coolingMs += ms
  byDegree.set(degree, sums)
}

const binsOf = (byDegree: Map<number, Sums>): TemperatureBin[] =>
  [...byDegree]
    .toSorted(([a], [b]) => a - b)
    .map(([from, { ms, damperMs, coolingMs }]) => ({
      from,
      hours: ms / HOUR,
      damper: damperMs / ms,
      cooling_hours: coolingMs / HOUR,
    }))

/** The upper edge of the warmest degree at which the damper was at least half open, if it was less open at a warmer one. */
function changeoverOf(bins: TemperatureBin[]): number | null {
  const telling = bins.filter(({ hours }) => hours >= BIN_HOURS)
  const last = telling.findLastIndex(({ damper }) => damper >= HALF - EQUAL)
  return last >= 0 && last < telling.length - 1 ? telling[last]!.from + 1 : null
}
