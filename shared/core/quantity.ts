/** Engineering quantities: ratings and design values of equipment (specification, `svc_engineering_quantities_v1`). */

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
