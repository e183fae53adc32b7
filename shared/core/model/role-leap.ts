/** How far each measured role can move between two samples. */
import { nameTable } from '#shared/core/name-table.ts'
import type { Leap } from '#shared/core/series/doubtful.ts'
import { isMeasured, ROLES } from './role.ts'

/** @source engineering judgement: beyond what air, water or a room of its kind does from one sample to the next, starts of machines included */
const LEAPS = nameTable<number>({
  ...{ oa_t: 20, wx_oa_t: 20, wx_wb_t: 20, wx_dp_t: 20, ma_t: 20, ra_t: 10, zone_t: 8 },
  ...{ chw_supply_t: 15, chw_return_t: 15, cw_supply_t: 15, cw_return_t: 15, hw_supply_t: 35, hw_return_t: 35 },
  ...{ sa_rh: 0.4, ra_rh: 0.4, oa_rh: 0.4, wx_oa_rh: 0.4 },
})
/**
 * By canonical unit: how far it moves where the role says nothing else, and from how far away exactly zero is no next value.
 * Flows and pressures are zero when their machine stops, and power leaps with it.
 *
 * @source engineering judgement: coils, stages and burners change supply air by up to 35 K; 3 K are beyond a step of 1 K or 1 °F of a
 *   display; CO2 of outdoor air is over 400 ppm
 */
const BY_UNIT = nameTable<Leap>({
  degC: { leap: 35, zero: 3 },
  fraction: { leap: 1, zero: 0.1 },
  ppm: { leap: 10_000, zero: 300 },
})

/** @returns undefined for what is not measured, and for what switches */
export function leapOf(role: string): Leap | undefined {
  const usual = isMeasured(role) && !ROLES[role]!.stops ? BY_UNIT[ROLES[role]!.unit] : undefined
  return usual && { ...usual, leap: LEAPS[role] ?? usual.leap }
}
