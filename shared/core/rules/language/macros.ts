/** Conditions that every rule may name. Each is defined once, over whatever proof an equipment carries. */
import type { EquipmentType } from '#shared/core/model/model.ts'

/** The first of these roles that has samples, here or on what feeds this equipment, above its threshold. */
export type RunningProof = { role: string; above: number }
type Macro = {
  /** In order of trust. Without any, the macro is not evaluated: missing proof never means on. */
  proofs: readonly RunningProof[]
  /** Types that have nothing to switch on: always true. */
  alwaysFor: readonly EquipmentType[]
}

/** What a current transducer or a drive at rest may show, A; the smallest motors of fans and pumps of a plant room draw more. */
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
  // Controls and crankcase heaters of a chiller that stands still draw less.
  { role: 'chiller_current', above: 5 },
  { role: 'chiller_cmd', above: 0 },
]
const BOILER: readonly RunningProof[] = [
  { role: 'boiler_status', above: 0 },
  { role: 'boiler_cmd', above: 0 },
]

export const MACROS: Record<string, Macro> = {
  fan_on: { proofs: FAN, alwaysFor: [] },
  pump_on: { proofs: PUMP, alwaysFor: [] },
  chiller_on: { proofs: CHILLER, alwaysFor: [] },
  boiler_on: { proofs: BOILER, alwaysFor: [] },
  running: { proofs: [...FAN, ...CHILLER, ...BOILER, ...PUMP], alwaysFor: ['zone', 'meter', 'weather'] },
  occ: { proofs: [{ role: 'occ', above: 0 }], alwaysFor: [] },
}

/** A plant without a proof of its own is on while one of its machines is. */
export const PLANT_MACHINES: Partial<Record<EquipmentType, readonly EquipmentType[]>> = {
  chw_plant: ['chiller', 'pump'],
  hw_plant: ['boiler', 'pump'],
}

/** What a plant's machines prove for all that the plant feeds: an air handler's fan is no matter of theirs. */
export const PLANT_MACROS: ReadonlySet<string> = new Set(['chiller_on', 'boiler_on'])

/** Outdoor-air fraction from temperatures; a rule that uses it is gated while the two airs are closer than this, K. */
const OAF_MIN_DIFFERENCE = 3
export const OAF = '(ma_t - ra_t) / (oa_t - ra_t)'
export const OAF_GUARD = `abs(oa_t - ra_t) >= ${OAF_MIN_DIFFERENCE} K`
export const OAF_ROLES = { ma_t: 'degC', ra_t: 'degC', oa_t: 'degC' }
