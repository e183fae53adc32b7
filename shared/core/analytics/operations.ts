/**
 * The operation of an equipment by building day: how long it ran, and the comfort of its zone while occupied.
 *
 * @source KPIs of building operation: run time, starts, share of time in comfort, mean zone temperature
 */
import { HOUR } from '../time.ts'
import type { TakeInterval } from './signal-merge.ts'

/** Indices of the signals in the order in which they are walked. A signal that an equipment lacks has no value. */
const RUN = 0
const GATE = 1
const ZONE = 2
const HEAT = 3
const COOL = 4

/** A zone is comfortable up to this far beyond its set points, K: 2 °F, a third less than the alarm of the rule ZONE-TEMP. */
export const COMFORT_TOLERANCE = 1.1
/** Comfort where a zone has no set points, °C: 68 to 76 °F. */
export const COMFORT_BAND = { low: 20, high: 24.4 }
/** Equal, as in the rules. */
const EQUAL = 1e-9

/** Sums of a day; ms, and K × ms. */
export type OperationSums = {
  runKnownMs: number
  runMs: number
  /** From off to on, both known. */
  starts: number
  zoneMs: number
  zoneIntegral: number
  /** Time in which comfort counts and the zone temperature and its limits are known. */
  comfortKnownMs: number
  comfortMs: number
  warmMs: number
  coldMs: number
}
export type OperationRules = {
  /** It runs above this. */
  runAbove: number
  /** The zone is occupied above this; undefined: comfort counts at all times. */
  gateAbove: number | undefined
  /** Undefined: the set points, widened by `COMFORT_TOLERANCE`. */
  band: { low: number; high: number } | undefined
}

/**
 * @param days [d + 1] beginnings of the building's days in ms, the first at or before the start of the span, the last at or
 *   after its end
 * @returns sums by day in the order of `days`
 */
export function createOperationsTally(
  days: readonly number[],
  rules: OperationRules,
): { take: TakeInterval; days: OperationSums[] } {
  const sums = days.slice(1).map(noOperation)
  let today = 0
  let wasOff = false

  const add = (sum: OperationSums, ms: number, values: Float64Array) => {
    const run = values[RUN]!
    if (!Number.isNaN(run)) {
      sum.runKnownMs += ms
      if (run > rules.runAbove) sum.runMs += ms
    }
    const zone = values[ZONE]!
    if (Number.isNaN(zone)) return
    sum.zoneMs += ms
    sum.zoneIntegral += zone * ms
    if (rules.gateAbove === undefined || values[GATE]! > rules.gateAbove) addComfort(sum, ms, zone, limitsOf(values, rules))
  }
  return {
    days: sums,
    take(from, to, values) {
      while (from >= days[today + 1]!) today++
      const run = values[RUN]!
      if (wasOff && run > rules.runAbove) sums[today]!.starts++
      wasOff = run <= rules.runAbove
      for (let at = from, day = today; at < to; day++) {
        const until = Math.min(to, days[day + 1]!)
        add(sums[day]!, until - at, values)
        at = until
      }
    },
  }
}

function limitsOf(values: Float64Array, { band }: OperationRules): { low: number; high: number } {
  return band ?? { low: values[HEAT]! - COMFORT_TOLERANCE, high: values[COOL]! + COMFORT_TOLERANCE }
}

function addComfort(sum: OperationSums, ms: number, zone: number, { low, high }: { low: number; high: number }): void {
  if (Number.isNaN(low) || Number.isNaN(high)) return
  sum.comfortKnownMs += ms
  if (zone > high + EQUAL) sum.warmMs += ms
  else if (zone < low - EQUAL) sum.coldMs += ms
  else sum.comfortMs += ms
}

export const noOperation = (): OperationSums => ({
  runKnownMs: 0,
  runMs: 0,
  starts: 0,
  zoneMs: 0,
  zoneIntegral: 0,
  comfortKnownMs: 0,
  comfortMs: 0,
  warmMs: 0,
  coldMs: 0,
})

/** Adds the sums of days or of equipment. */
export function sumOperations(all: readonly OperationSums[]): OperationSums {
  const total = noOperation()
  for (const one of all) for (const key of Object.keys(total) as (keyof OperationSums)[]) total[key] += one[key]
  return total
}

/** The figures of a report; null where nothing is known. */
export type OperationFigures = {
  running_hours: number | null
  /** Hours in which it is known whether it ran. */
  known_hours: number
  starts: number | null
  /** 0..1 of the hours in which comfort counts and is known. */
  comfort_share: number | null
  comfort_known_hours: number
  too_warm_hours: number | null
  too_cold_hours: number | null
  /** °C, weighted by time. */
  zone_t_mean: number | null
}

export function figuresOf(sum: OperationSums): OperationFigures {
  const [runs, comfort] = [sum.runKnownMs > 0, sum.comfortKnownMs > 0]
  return {
    running_hours: runs ? sum.runMs / HOUR : null,
    known_hours: sum.runKnownMs / HOUR,
    starts: runs ? sum.starts : null,
    comfort_share: comfort ? sum.comfortMs / sum.comfortKnownMs : null,
    comfort_known_hours: sum.comfortKnownMs / HOUR,
    too_warm_hours: comfort ? sum.warmMs / HOUR : null,
    too_cold_hours: comfort ? sum.coldMs / HOUR : null,
    zone_t_mean: sum.zoneMs > 0 ? sum.zoneIntegral / sum.zoneMs : null,
  }
}
