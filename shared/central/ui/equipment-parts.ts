/** The parts of each kind of equipment in the direction of flow, with the roles that are shown at them. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import { message, words } from '#shared/node/http/language.ts'

export type PartSymbol =
  | 'damper'
  | 'return'
  | 'wheel'
  | 'mix'
  | 'filter'
  | 'heat'
  | 'cool'
  | 'fan'
  | 'air'
  | 'room'
  | 'pump'
  | 'machine'
  | 'flame'
  | 'tower'
  | 'pipe'
  | 'meter'
  | 'weather'
export type EquipmentPart = { name: string; symbol: PartSymbol; roles: readonly string[] }

const part = (name: string, symbol: PartSymbol, ...roles: string[]): EquipmentPart => words({ name, symbol, roles }, 'name')

const OUTDOOR = part(message`Outdoor air`, 'damper', 'oa_t', 'oa_rh', 'oa_damper', 'oa_damper_pos', 'oa_flow')
const RETURN = part(message`Return air`, 'return', 'ra_t', 'ra_rh', 'ra_damper', 'return_fan_status', 'return_fan_speed')
const EXHAUST = part(message`Exhaust`, 'damper', 'ea_damper')
const RECOVERY = part(message`Heat recovery`, 'wheel', 'hr_leave_t', 'hr_status')
const MIXED = part(message`Mixed air`, 'mix', 'ma_t')
const FILTER = part(message`Filter`, 'filter', 'filter_dp')
const PREHEAT = part(message`Preheat`, 'heat', 'preheat_t', 'preheat_valve')
const HEATING = part(
  message`Heating`,
  'heat',
  'htg_coil_leave_t',
  'hot_deck_t',
  'htg_valve',
  'htg_valve_pos',
  'heat_status',
  'aux_heat',
)
const COOLING = part(
  message`Cooling`,
  'cool',
  'clg_coil_leave_t',
  'clg_valve',
  'clg_valve_pos',
  'compressor_status',
  'compressor_cmd',
)
const FAN = part(message`Fan`, 'fan', 'fan_status', 'fan_cmd', 'fan_speed', 'fan_current')
const SUPPLY = part(
  message`Supply air`,
  'air',
  'sa_t',
  'sa_t_sp',
  'duct_static',
  'duct_static_sp',
  'sa_flow',
  'sa_rh',
  'humidifier',
)
const ROOM = part(message`Room`, 'room', 'zone_t', 'zone_t_sp', 'zone_t_sp_cool', 'zone_t_sp_heat', 'co2', 'occ')
const AIR_HANDLER = [OUTDOOR, RETURN, EXHAUST, RECOVERY, MIXED, FILTER, PREHEAT, HEATING, COOLING, FAN, SUPPLY]
const UNIT = [...AIR_HANDLER, ROOM]
const POWER = part(message`Power`, 'meter', 'kw', 'kwh')
const PUMP = part(message`Pump`, 'pump', 'pump_status', 'pump_cmd', 'pump_speed', 'pump_current')
const CONDENSER = part(message`Condenser water`, 'pipe', 'cw_supply_t', 'cw_supply_t_sp', 'cw_return_t', 'cw_pump_cmd')
const CHILLER = part(
  message`Chiller`,
  'machine',
  'chiller_status',
  'chiller_cmd',
  'chiller_current',
  'evap_refr_t',
  'cond_refr_t',
  'stage',
)
const CHILLED = part(message`Chilled water`, 'pipe', 'chw_supply_t', 'chw_supply_t_sp', 'chw_return_t', 'chw_flow', 'chw_dp')
const BOILER = part(message`Boiler`, 'flame', 'boiler_status', 'boiler_cmd', 'stage')
const HOT = part(message`Hot water`, 'pipe', 'hw_supply_t', 'hw_supply_t_sp', 'hw_return_t', 'hw_flow', 'hw_dp')
const CHILLED_PLANT = [CONDENSER, CHILLER, PUMP, CHILLED, POWER]
const HOT_PLANT = [BOILER, PUMP, HOT, POWER]

/** A part without any of its roles is not drawn. */
export const EQUIPMENT_PARTS: Record<EquipmentType, readonly EquipmentPart[]> = {
  ahu: AIR_HANDLER,
  rtu: UNIT,
  heat_pump: [...UNIT, POWER],
  vav: [
    part(message`Damper`, 'damper', 'damper', 'damper_pos', 'zone_flow', 'zone_flow_sp'),
    part(message`Reheat`, 'heat', 'reheat_valve', 'reheat_valve_pos', 'discharge_t'),
    ROOM,
  ],
  zone: [ROOM],
  fcu: [FAN, HEATING, COOLING, part(message`Supply air`, 'air', 'sa_t', 'discharge_t', 'sa_t_sp'), ROOM],
  chiller: CHILLED_PLANT,
  chw_plant: CHILLED_PLANT,
  cooling_tower: [part(message`Tower`, 'tower', 'cw_supply_t', 'cw_supply_t_sp', 'cw_return_t'), FAN, PUMP, POWER],
  boiler: HOT_PLANT,
  hw_plant: HOT_PLANT,
  pump: [PUMP, POWER],
  fan: [FAN, POWER],
  meter: [POWER],
  weather: [part(message`Weather`, 'weather', 'wx_oa_t', 'wx_oa_rh', 'wx_wb_t', 'wx_dp_t', 'oa_t', 'oa_rh')],
}
