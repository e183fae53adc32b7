/** Prices a fault in energy and money, with its assumptions, or lists the missing inputs. */
import type { Finding } from '#shared/core/findings/finding.ts'
import { sumByCarrier, energyOf, kelvinOf, type PricingNotes } from './energy.ts'
import type { EnergyPrices, EnergyUse, PricingGap, Impact, Range, Waste } from './impact.ts'
import { exactRange, addRanges, roundRange, SENSORS_K, multiplyRanges } from './range.ts'
import type { EquipmentSizes } from './equipment-sizes.ts'

type PricingResult = { impact?: Impact; not_priced?: PricingGap[] }
/** If the waste was known for a smaller share of the time in fault, this is stated. */
const MOST_OF_IT = 0.98

/**
 * Prices one finding. The result depends only on its `waste`, the sizes and the prices.
 *
 * @returns neither field when nothing is known; `impact` in kWh with `not_priced` when only a price is missing
 */
export function priceFinding(
  { waste, equipment_id, duration_secs }: Pick<Finding, 'waste' | 'equipment_id' | 'duration_secs'>,
  sizes: EquipmentSizes,
  prices: EnergyPrices | undefined,
): PricingResult {
  if (!waste) return {}
  if (waste.hours === 0) return { not_priced: missingInputs(waste, equipment_id) }
  const ledger: PricingNotes = { basis: [], gaps: [] }
  if (waste.kind === 'comfort') return { impact: comfort(waste, duration_secs) }
  const energy = sumByCarrier(energyOf(waste, equipment_id, sizes, ledger))
  if (ledger.gaps.length > 0) return { not_priced: ledger.gaps }
  const unpriced = energy
    .filter(({ carrier }) => prices?.[carrier] === undefined)
    .map(({ carrier }): PricingGap => ({ what: 'price', name: carrier }))
  const basis = [...assumptionsOf(waste, duration_secs), ...ledger.basis]
  const base = { kind: waste.kind, energy: energy.map(one => ({ carrier: one.carrier, ...roundRange(one) })) }
  if (unpriced.length > 0 || !prices) {
    const total = energy.reduce<Range>(addRanges, exactRange(0))
    return { impact: { ...base, ...roundRange(total), unit: 'kWh', basis }, ...(unpriced.length > 0 && { not_priced: unpriced }) }
  }
  const money = energy.map(one => multiplyRanges(one, exactRange(prices[one.carrier]!))).reduce<Range>(addRanges, exactRange(0))
  const { currency } = prices
  return {
    impact: { ...base, ...roundRange(money), unit: currency, basis: [...basis, ...energy.map(one => priceText(one, prices))] },
  }
}

const priceText = ({ carrier }: EnergyUse, prices: EnergyPrices): string =>
  `${carrier} at ${prices[carrier]} ${prices.currency} per kWh`

function comfort(waste: Waste, duration_secs: number): Impact {
  const basis = [...assumptionsOf(waste, duration_secs), `Degrees beyond the set points, temperatures within ${SENSORS_K} K.`]
  return { kind: waste.kind, ...roundRange(kelvinOf(waste, 'up')), unit: 'K·h', basis, energy: [] }
}

/** The share of the time in fault for which the waste was known (the rest is not extrapolated), and the rule's own assumption. */
function assumptionsOf({ hours, because }: Waste, duration_secs: number): string[] {
  const whole = duration_secs / 3600
  const part = `Reckoned over ${hours.toFixed(1)} h of ${whole.toFixed(1)} h in fault; for the rest its inputs were not known.`
  return [...(hours < MOST_OF_IT * whole ? [part] : []), ...(because === undefined ? [] : [because])]
}

/** The reason why nothing was summed: missing points, or points without data. */
function missingInputs({ absent = [] }: Waste, equipment_id: string): PricingGap[] {
  const points = absent.map((name): PricingGap => ({ what: 'point', name, equipment_id }))
  return points.length > 0 ? points : [{ what: 'data', name: 'inputs', equipment_id }]
}

/** The finding with its current price in place of an earlier one. */
export function withImpact<F extends Finding>(finding: F, sizes: EquipmentSizes, prices: EnergyPrices | undefined): F {
  const { impact: _impact, not_priced: _gaps, ...rest } = finding
  return { ...rest, ...priceFinding(finding, sizes, prices) } as F
}
