/** What a fault costs: as the engine measures it, and as people read it. Plain data that stands in a finding. */
import type { Carrier, ImpactKind, Measure } from './kinds.ts'

/**
 * What was wasted while the fault held, before anything is known of the equipment's size: sums over time in fault.
 *
 * `up` is the sum of what lay above zero, `down` of what lay below (as a positive figure), in the unit of `measure` times
 * that of the gauge times hours: K × m³/s × h with a measured flow, K × h with a speed.
 */
export type Waste = {
  kind: ImpactKind
  measure: Measure
  /** What the waste was weighted with: `GAUGES`. */
  gauge: string
  /** Time in fault for which waste and gauge were known, h. */
  hours: number
  up: number
  /** The same of what lay further from zero than sensors err: what is surely there. */
  up_sure: number
  /** The gauge alone, summed over the time in which waste was above zero. */
  up_gauge: number
  down: number
  down_sure: number
  down_gauge: number
  /** What the rule itself takes for granted, in its own words. */
  because?: string
  /** Roles without a point, for want of which nothing could be summed. */
  absent?: string[]
}

/** low <= mid <= high. */
export type Range = { low: number; mid: number; high: number }

export type EnergyUse = Range & { carrier: Carrier }

/** What a fault costs, with everything it rests on (contract §6). */
export type Impact = Range & {
  kind: ImpactKind
  /** A currency when every carrier has a price, else `kWh`; `K·h` for comfort. */
  unit: string
  /** Every assumption, one sentence each. */
  basis: string[]
  /** kWh by carrier; empty for comfort. */
  energy: EnergyUse[]
}

/** What is missing before a fault can be priced. */
export type PricingGap =
  | { what: 'quantity'; name: string; equipment_id: string; why: string }
  | { what: 'price'; name: Carrier }
  | { what: 'point' | 'data'; name: string; equipment_id: string }

/** What energy costs in a building; a carrier without a price is not priced. */
export type EnergyPrices = {
  /** ISO 4217, `EUR`. */
  currency: string
  /** Per kWh of electricity. */
  electricity?: number
  /** Per kWh of fuel burnt, or of heat bought. */
  fuel?: number
}
