/** Texts on the cost of a fault: the figure, its range, and the missing inputs. */
import { nameTable } from '#shared/core/name-table.ts'
import type { EnergyPrices, EnergyUse, PricingGap, Impact, Range } from '#shared/core/impact/impact.ts'
import { impactKindSpec } from '#shared/core/impact/kinds.ts'
import { exactRange, addRanges, multiplyRanges } from '#shared/core/impact/range.ts'
import type { Building } from '#shared/core/model/model.ts'
import { type UnitSystem } from './measure.ts'
import { say, sayCount, words, sayNumber } from '#shared/node/http/language.ts'

/** Names of figures that a fault may lack, as the specification has them and as people say them. */
const PROPERTY_WORDS = words(
  nameTable<string>({
    ratedCoolingCapacity: 'rated cooling capacity',
    ratedHeatingCapacity: 'rated heating capacity',
    ratedFuelInputPower: 'rated fuel input',
    ratedElectricalInputPower: 'rated electrical input',
    ratedShaftPower: 'rated shaft power',
    designSupplyAirflow: 'design supply air flow',
    designOutdoorAirflow: 'design outdoor air flow',
    designWaterFlow: 'design water flow',
    designExternalStaticPressure: 'design external static pressure',
    designPumpHead: 'design pump head',
    ratedCOP: 'coefficient of performance (COP)',
    ratedEER: 'energy efficiency ratio (EER)',
    ratedThermalEfficiency: 'thermal efficiency',
  }),
)
export const propertyWords = (property: string): string => PROPERTY_WORDS[property] ?? property
/** By carrier. */
export const CARRIER_WORDS = words({ electricity: 'electricity', fuel: 'fuel or heat' } as const)

/** @returns `0.35`, `3.60`, `36`, `1,240`: no more digits than the range deserves */
function amount(value: number): string {
  if (value >= 100) return sayCount(Number(value.toPrecision(3)))
  if (value >= 10) return sayNumber(value, 0)
  return sayNumber(value, value >= 1 ? 1 : 2)
}

type Shown = Pick<Impact, 'mid' | 'unit'>
const isTooLittle = ({ mid, unit }: Shown, system: UnitSystem): boolean => mid * shownScale(unit, system) < SHOWN_MIN

/** @returns `3.6 EUR`, or `next to nothing`; degrees in the building's own */
export function costText(cost: Shown, system: UnitSystem): string {
  const { mid, unit } = cost
  if (isTooLittle(cost, system)) return say`next to nothing`
  return `${amount(mid * shownScale(unit, system))} ${shownUnit(unit, system)}`
}

/** The same in a sentence. @returns `about 3.6 EUR`, or `next to nothing` */
export const aboutText = (cost: Shown, system: UnitSystem): string =>
  isTooLittle(cost, system) ? costText(cost, system) : say`about ${costText(cost, system)}`

/** Less than that is no figure: with its range it would read as nothing, from nothing to nothing. */
const SHOWN_MIN = 0.01

/** @returns `1.8 to 6.7 EUR`, or `at most 0.20 EUR`; empty where even the most is too little to show */
export function rangeText({ low, high }: Range, unit: string, system: UnitSystem): string {
  const scale = shownScale(unit, system)
  if (high * scale < SHOWN_MIN) return ''
  if (low * scale < SHOWN_MIN) return say`at most ${amount(high * scale)} ${shownUnit(unit, system)}`
  return say`${amount(low * scale)} to ${amount(high * scale)} ${shownUnit(unit, system)}`
}

const isDegrees = (unit: string): boolean => unit === 'K·h'
const shownScale = (unit: string, system: UnitSystem): number => (isDegrees(unit) && system === 'us' ? 1.8 : 1)
const shownUnit = (unit: string, system: UnitSystem): string => (isDegrees(unit) && system === 'us' ? '°F·h' : unit)

export const kindWords = ({ kind }: Pick<Impact, 'kind'>): string => say(impactKindSpec(kind).words)

/** @param equipmentName what people call an equipment */
export function gapText(gap: PricingGap, equipmentName: (equipment_id: string) => string): string {
  switch (gap.what) {
    case 'price':
      return say`price of ${CARRIER_WORDS[gap.name]}`
    case 'quantity':
      return say`${propertyWords(gap.name)} of ${equipmentName(gap.equipment_id)} (${gap.name}), ${gapReason(gap.why)}`
    case 'point':
      return say`a point ${gap.name} on ${equipmentName(gap.equipment_id)}`
    case 'data':
      return say`data of ${equipmentName(gap.equipment_id)} while the fault held`
  }
}

/** @returns `not priced: design supply air flow and 1 more`, for a list */
/** Why a quantity does not count; what is wrong with its value itself is said as it was found. */
const GAP_REASONS: Record<string, string> = words(
  nameTable<string>({ 'not entered': 'not entered', 'not reviewed': 'not reviewed', rejected: 'rejected' }),
)
export const gapReason = (why: string): string => GAP_REASONS[why] ?? why

export function gapsText([first, ...more]: PricingGap[]): string {
  if (!first) return '–'
  const words = {
    quantity: () => propertyWords(first.name),
    price: () => gapText(first, String),
    point: () => say`a point ${first.name}`,
    data: () => say`data`,
  }
  return say`not priced: ${words[first.what]()}${more.length > 0 ? say` and ${more.length} more` : ''}`
}

/** The total cost of the faults of one building, for the page of faults. */
export type Together = {
  building: Pick<Building, 'building_id' | 'name' | 'unit_system'>
  energy: EnergyUse[]
  prices: EnergyPrices | undefined
}

/** Money where every carrier has a price, and the energy in any case. */
export function togetherText({ energy, prices, building: { unit_system } }: Together): string {
  const isShown = ({ mid }: EnergyUse) => !isTooLittle({ mid, unit: 'kWh' }, unit_system)
  if (!energy.some(isShown)) return say`next to nothing`
  const listed = (wordsOf: typeof costText) =>
    energy
      .filter(isShown)
      .map(one => say`${wordsOf({ mid: one.mid, unit: 'kWh' }, unit_system)} of ${CARRIER_WORDS[one.carrier]}`)
      .join(', ')
  if (!prices || energy.some(({ carrier }) => prices[carrier] === undefined)) return listed(aboutText)
  const money = energy.map(one => multiplyRanges(one, exactRange(prices[one.carrier]!))).reduce(addRanges)
  const cost = { ...money, unit: prices.currency }
  const range = rangeText(cost, cost.unit, unit_system)
  return `${aboutText(cost, unit_system)}${range && say`, ${range} at the outside`} (${listed(costText)})`
}

/** @param waste of one day. @returns `about 120 kWh a day`, or an empty text where no energy is known */
export function wasteADay(waste: readonly Together[]): string {
  const mid = waste.flatMap(({ energy }) => energy).reduce((sum, one) => sum + one.mid, 0)
  return mid >= SHOWN_MIN ? say`${aboutText({ mid, unit: 'kWh' }, 'si')} a day` : ''
}
