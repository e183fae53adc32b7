/** Roles by equipment type. */
import type { EquipmentType } from '#shared/core/model/model.ts'

const AIR_SIDE =
  /^(oa_|ma_|ra_|sa_|preheat_|clg_|htg_|hr_|hot_deck_|duct_|bldg_|filter_|fan_|return_fan_|ea_damper|static_reset|humidifier|zone_t|co2|occ|mode|compressor_|heat_|aux_|defrost|loop_|load_|kw)/
const BOX = /^(zone_|damper|reheat_|reset_requests|discharge_|co2|occ|mode|fan_(cmd|status|speed|current)|kw)/
const CHILLED = /^(chw_|cw_|evap_|cond_|wse_|stage|system_|pump_|chiller_|loop_|load_|kw|mode)/
/** The fan of a plant is that of its cooling tower. */
const CHILLED_PLANT = new RegExp(`${CHILLED.source}|^fan_(cmd|status|speed)`)
const HOT = /^(hw_|stage|system_|pump_|boiler_|loop_|kw|mode)/

const OF_TYPE: Record<EquipmentType, RegExp> = {
  ahu: AIR_SIDE,
  rtu: AIR_SIDE,
  heat_pump: AIR_SIDE,
  fcu: /^(zone_t|clg_valve|htg_valve|fan_|discharge_|oa_|ma_t|ra_t|occ|mode|co2|kw)/,
  vav: BOX,
  zone: /^(zone_t|co2|occ|mode|discharge_)/,
  chiller: CHILLED,
  chw_plant: CHILLED_PLANT,
  cooling_tower: /^(cw_|fan_|oa_t|kw|mode)/,
  boiler: HOT,
  hw_plant: HOT,
  pump: /^(pump_|chw_dp|hw_dp|chw_flow|hw_flow|kw)/,
  fan: /^(fan_|return_fan_|duct_|kw)/,
  meter: /^(kw|kwh)$/,
  weather: /^wx_/,
}

/** @returns whether equipment of the type may have the role; roles of a weather station belong to no other type */
export const mayHave = (type: EquipmentType | undefined, role: string): boolean =>
  type === undefined ? !role.startsWith('wx_') : OF_TYPE[type].test(role)
