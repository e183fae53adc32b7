/** Engineering quantities: ratings and design values of equipment (specification, `svc_engineering_quantities_v1`). */
import { nameTable } from '#shared/core/name-table.ts'
import { conversion, unitCode } from './unit.ts'

export const QUANTITY_SCHEMA = 'svc_engineering_quantities_v1'

export const QUANTITY_PROPERTIES = [
  'ratedCoolingCapacity',
  'ratedHeatingCapacity',
  'ratedFuelInputPower',
  'ratedElectricalInputPower',
  'ratedShaftPower',
  'designSupplyAirflow',
  'designOutdoorAirflow',
  'designWaterFlow',
  'designExternalStaticPressure',
  'designPumpHead',
  'ratedCOP',
  'ratedEER',
  'ratedThermalEfficiency',
] as const

export const QUANTITY_KINDS = [
  'ThermalPower',
  'ElectricalPower',
  'ShaftPower',
  'VolumeFlow',
  'Pressure',
  'Efficiency',
  'Energy',
  'CoolingLoad',
] as const

export const VALUE_BASES = ['Design', 'Rated', 'TAB', 'Measured', 'Assumed'] as const
export const REVIEW_STATUSES = ['NeedsReview', 'Reviewed', 'Rejected'] as const
export type ReviewStatus = (typeof REVIEW_STATUSES)[number]

export type Quantity = {
  schema_version?: typeof QUANTITY_SCHEMA
  quantity_id: string
  equipment_id?: string
  building_id?: string
  tenant_id?: string
  property: (typeof QUANTITY_PROPERTIES)[number]
  numeric_value: number
  unit_code: string
  quantity_kind: (typeof QUANTITY_KINDS)[number]
  value_basis: (typeof VALUE_BASES)[number]
  source_type: string
  source_reference?: string
  source_locator?: string
  /** Absent means `NeedsReview`. Only a `Reviewed` quantity prices a fault. */
  review_status?: ReviewStatus
  notes?: string
}

/**
 * Whether a review may go from one status to another: a decision goes back to `NeedsReview` before it turns into the
 * other one (contract §4).
 */
export function mayReview(from: ReviewStatus, to: ReviewStatus): boolean {
  return from === to || from === 'NeedsReview' || to === 'NeedsReview'
}

/** kW of refrigeration in a ton, and kW in a kBtu/h: what turns kW/ton and Btu/(W·h) into a coefficient of performance. */
const KW_PER_TON = 3.516_853
const BTU_PER_WH = 3.412_142

/** Codes under which QUDT and engineers write units that `UNITS` has under another name. @source QUDT 2.1 unit vocabulary */
const UNIT_NAMES = nameTable<string>({
  kilow: 'kW',
  megaw: 'MW',
  'ft3-per-min': 'cfm',
  'm3-per-sec': 'm3/s',
  'm3-per-hr': 'm3/h',
  'l-per-sec': 'L/s',
  'gal_us-per-min': 'gpm',
  ton_fg: 'ton',
  'btu_it-per-hr': 'Btu/h',
  kilopa: 'kPa',
  in_h2o: 'inwc',
  unitless: 'fraction',
  'kw/kw': 'fraction',
  'w/w': 'fraction',
})

type Meaning = { unit: string; most: number }
const POWER: Meaning = { unit: 'kW', most: 1e6 }
const FLOW: Meaning = { unit: 'm3/s', most: 1e4 }
const PRESSURE: Meaning = { unit: 'Pa', most: 1e7 }
/** The canonical unit of each property, and what it cannot exceed. Figures of no property are zero or less. */
const MEANINGS: Record<Quantity['property'], Meaning> = {
  ratedCoolingCapacity: POWER,
  ratedHeatingCapacity: POWER,
  ratedFuelInputPower: POWER,
  ratedElectricalInputPower: POWER,
  ratedShaftPower: POWER,
  designSupplyAirflow: FLOW,
  designOutdoorAirflow: FLOW,
  designWaterFlow: FLOW,
  designExternalStaticPressure: PRESSURE,
  designPumpHead: PRESSURE,
  ratedCOP: { unit: 'fraction', most: 50 },
  ratedEER: { unit: 'fraction', most: 150 },
  ratedThermalEfficiency: { unit: 'fraction', most: 1.2 },
}

/**
 * The figure that a quantity states, in kW, m³/s, Pa, or as a plain number.
 *
 * @returns what is wrong with it instead, in words that name the field: a unit of something else, a value that no machine has
 */
export function readQuantity({ property, numeric_value, unit_code }: Quantity): { value: number } | { fault: string } {
  const { unit, most } = MEANINGS[property]
  const way = wayTo(property, unit_code.trim(), unit)
  if (!way) return { fault: `unit_code ${unit_code} is no unit of ${property}` }
  const value = way(numeric_value)
  if (!(numeric_value > 0)) return { fault: `numeric_value ${numeric_value}: ${property} is above zero` }
  if (!(value <= most))
    return { fault: `numeric_value ${numeric_value} ${unit_code}: ${property} is at most ${most} ${UNIT_WORDS[unit]}` }
  return { value }
}
const UNIT_WORDS = nameTable<string>({ fraction: '(a plain number)', kW: 'kW', 'm3/s': 'm³/s', Pa: 'Pa' })

function wayTo(property: Quantity['property'], written: string, unit: string): ((value: number) => number) | undefined {
  const plain = written.toLowerCase().replaceAll(/[\s()·*.]/g, '')
  if (property === 'ratedCOP' && /^kw(\/|-per-)ton(_fg)?$/.test(plain)) return value => KW_PER_TON / value
  if (property === 'ratedEER' && /^(k?btu)(_it)?(\/|-per-)(w|kw)-?(h|hr)$/.test(plain)) return value => value
  const name = written.toLowerCase().replace(/^unit:/, '')
  const code = Object.hasOwn(UNIT_NAMES, name) ? UNIT_NAMES[name] : unitCode(written.replace(/^unit:/, ''))
  const same = code === 'count' && unit === 'fraction' ? 'fraction' : code
  const known = same === undefined ? undefined : conversion(same, unit)
  return known && (value => value * known.scale + known.offset)
}

/** The figure as it was stated; a ratio of one unit to itself is a number alone. */
export const statedText = ({ numeric_value, unit_code }: Pick<Quantity, 'numeric_value' | 'unit_code'>): string =>
  unit_code === '1' ? String(numeric_value) : `${numeric_value} ${unit_code}`

/** A coefficient of performance from an energy efficiency ratio in Btu/(W·h). @source 1 W·h = 3.412 Btu */
export const copOfEer = (eer: number): number => eer / BTU_PER_WH

/** Units that a form offers for a property, the most frequent first. */
export const UNITS_OFFERED: Record<Quantity['property'], readonly string[]> = {
  ratedCoolingCapacity: ['kW', 'ton', 'Btu/h'],
  ratedHeatingCapacity: ['kW', 'Btu/h'],
  ratedFuelInputPower: ['kW', 'Btu/h'],
  ratedElectricalInputPower: ['kW', 'W', 'hp'],
  ratedShaftPower: ['kW', 'hp'],
  designSupplyAirflow: ['m3/s', 'L/s', 'm3/h', 'cfm'],
  designOutdoorAirflow: ['m3/s', 'L/s', 'm3/h', 'cfm'],
  designWaterFlow: ['L/s', 'm3/h', 'gpm'],
  designExternalStaticPressure: ['Pa', 'inwc'],
  designPumpHead: ['kPa', 'ftwc', 'psi'],
  ratedCOP: ['1', 'kW/ton'],
  ratedEER: ['Btu/(W·h)'],
  ratedThermalEfficiency: ['fraction', 'percent'],
}
/** The kind under which a property is filed. */
export const KIND_OF: Record<Quantity['property'], Quantity['quantity_kind']> = {
  ratedCoolingCapacity: 'ThermalPower',
  ratedHeatingCapacity: 'ThermalPower',
  ratedFuelInputPower: 'ThermalPower',
  ratedElectricalInputPower: 'ElectricalPower',
  ratedShaftPower: 'ShaftPower',
  designSupplyAirflow: 'VolumeFlow',
  designOutdoorAirflow: 'VolumeFlow',
  designWaterFlow: 'VolumeFlow',
  designExternalStaticPressure: 'Pressure',
  designPumpHead: 'Pressure',
  ratedCOP: 'Efficiency',
  ratedEER: 'Efficiency',
  ratedThermalEfficiency: 'Efficiency',
}
