/** The cost of a fault: as the engine measures it, and as it is shown. Plain data that is part of a finding. */
import type { Carrier, ImpactKind, Measure } from './kinds.ts'

/**
 * The waste of a fault, before the size of the equipment is known: sums over the time in fault.
 *
 * `up` is the sum of values above zero and `down` that of values below (as a positive number), in the unit of `measure`
 * times that of the gauge times hours: K × m³/s × h with a measured flow, K × h with a speed.
 */
export type Waste = {
  kind: ImpactKind
  measure: Measure
  /** The weight: a name in `GAUGES`. */
  gauge: string
  hours: number
  up: number
  /** The same for the part beyond the error of the sensors, which is certain. */
  up_sure: number
  /** The gauge alone, summed over the time with waste above zero. */
  up_gauge: number
  down: number
  down_sure: number
  down_gauge: number
  /** The rule's own assumption, as its file states it. */
  because?: string
  /** Roles without a point, without which nothing could be summed. */
  absent?: string[]
}

/** low <= mid <= high. */
export type Range = { low: number; mid: number; high: number }

export type EnergyUse = Range & { carrier: Carrier }

/** The cost of a fault with all assumptions (contract §6). */
export type Impact = Range & {
  kind: ImpactKind
  /** A currency when every carrier has a price, else `kWh`; `K·h` for comfort. */
  unit: string
  /** Every assumption, one sentence each. */
  basis: string[]
  /** kWh by carrier; empty for comfort. */
  energy: EnergyUse[]
}

/** An input that is missing for pricing a fault. */
export type PricingGap =
  | { what: 'quantity'; name: string; equipment_id: string; why: string }
  | { what: 'price'; name: Carrier }
  | { what: 'point' | 'data'; name: string; equipment_id: string }

/** Energy prices of a building; a carrier without a price is not priced. */
export type EnergyPrices = {
  /** ISO 4217, `EUR`. */
  currency: string
  /** Per kWh of electricity. */
  electricity?: number
  /** Per kWh of fuel burnt, or of heat bought. */
  fuel?: number
}
