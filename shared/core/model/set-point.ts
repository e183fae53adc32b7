/** The set points at which a loop holds a measured value. */
import { nameTable } from '#shared/core/name-table.ts'

/** By measured role, the roles of its set points on the same equipment. */
const SET_POINTS = nameTable<readonly string[]>({
  sa_t: ['sa_t_sp', 'sa_t_sp_cool', 'sa_t_sp_heat'],
  duct_static: ['duct_static_sp'],
  zone_t: ['zone_t_sp', 'zone_t_sp_cool', 'zone_t_sp_heat'],
  zone_flow: ['zone_flow_sp'],
  oa_flow: ['oa_flow_min'],
  discharge_t: ['discharge_t_sp', 'sa_t_sp'],
  co2: ['co2_sp'],
  chw_supply_t: ['chw_supply_t_sp'],
  chw_dp: ['chw_dp_sp'],
  cw_supply_t: ['cw_supply_t_sp'],
  hw_supply_t: ['hw_supply_t_sp'],
  hw_dp: ['hw_dp_sp'],
})

/** @returns roles of the set points at which `role` may be held; none for a role that no loop controls */
export const setPointsOf = (role: string): readonly string[] => (Object.hasOwn(SET_POINTS, role) ? SET_POINTS[role]! : [])
