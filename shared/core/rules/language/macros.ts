/** Macros: conditions that every rule may use. Each is defined once and uses whatever proof an equipment has. */
import { nameTable } from '#shared/core/name-table.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'

/**
 * Equipment is on while the role is above the threshold. The first role with samples counts, on the equipment itself or on
 * the equipment that feeds it.
 */
export type RunningProof = { role: string; above: number }
type Macro = {
  /** In order of reliability. Without any, the macro is not evaluated: a missing proof never means on. */
  proofs: readonly RunningProof[]
  /** Types that cannot be switched off; the macro is always true. */
  alwaysFor: readonly EquipmentType[]
}

/** Current that a transducer or an idle drive may show, A; the smallest motors of fans and pumps draw more. */
const AT_REST_A = 0.5

const FAN: readonly RunningProof[] = [
  { role: 'fan_status', above: 0 },
  { role: 'fan_current', above: AT_REST_A },
  { role: 'fan_speed', above: 0.05 },
  { role: 'fan_cmd', above: 0 },
]
const PUMP: readonly RunningProof[] = [
  { role: 'pump_status', above: 0 },
  { role: 'pump_current', above: AT_REST_A },
  { role: 'pump_speed', above: 0.05 },
  { role: 'pump_cmd', above: 0 },
]
const CHILLER: readonly RunningProof[] = [
  { role: 'chiller_status', above: 0 },
  // Controls and crankcase heaters of an idle chiller draw less.
  { role: 'chiller_current', above: 5 },
  { role: 'chiller_cmd', above: 0 },
]
const BOILER: readonly RunningProof[] = [
  { role: 'boiler_status', above: 0 },
  { role: 'boiler_cmd', above: 0 },
]

export const MACROS = nameTable<Macro>({
  fan_on: { proofs: FAN, alwaysFor: [] },
  pump_on: { proofs: PUMP, alwaysFor: [] },
  chiller_on: { proofs: CHILLER, alwaysFor: [] },
  boiler_on: { proofs: BOILER, alwaysFor: [] },
  running: { proofs: [...FAN, ...CHILLER, ...BOILER, ...PUMP], alwaysFor: ['zone', 'meter', 'weather'] },
  occ: { proofs: [{ role: 'occ', above: 0 }], alwaysFor: [] },
})

/** The machines of a plant: a plant without a proof of its own is on while one of them is. */
export const PLANT_MACHINES: Partial<Record<EquipmentType, readonly EquipmentType[]>> = {
  chw_plant: ['chiller', 'pump'],
  hw_plant: ['boiler', 'pump'],
}

/**
 * Macros that the machines of a plant also prove for the equipment that the plant feeds; the fan of an air handler is not
 * among them.
 */
export const PLANT_MACROS: ReadonlySet<string> = new Set(['chiller_on', 'boiler_on'])

/**
 * The outdoor-air fraction from temperatures. A rule that uses it is gated while outdoor and return air are closer than
 * this, K.
 */
const OAF_MIN_DIFFERENCE = 3
export const OAF = '(ma_t - ra_t) / (oa_t - ra_t)'
export const OAF_GUARD = `abs(oa_t - ra_t) >= ${OAF_MIN_DIFFERENCE} K`
export const OAF_ROLES = { ma_t: 'degC', ra_t: 'degC', oa_t: 'degC' }
