/**
 * Point names of the reference platform, `openfdd_package_v1`. Packages of that format use them as keys of a column map and as
 * roles in `columns.csv`.
 *
 * @source point dictionary of open-fdd: kebab-case names, their snake_case synonyms and shop names
 */
import { nameTable } from '#shared/core/name-table.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'

/** Terminal equipment: its discharge air is its own and not that of the air handler. */
const TERMINALS: ReadonlySet<EquipmentType> = new Set(['vav', 'zone', 'fcu'])

/** Role → names, separated by blanks. */
const NAMES = nameTable<string>({
  sa_t: 'discharge_air_temp sat supply_air_temp supply_air_temperature discharge_air_temp_f vav_inlet_air_temp vav_inlet_t ahu_discharge_air_temp ahu_sat',
  sa_t_sp:
    'discharge_air_temp_sp sat_sp sat_setpoint dat_reset dat_reset_f sat_sp_f sat_setpoint_f cooling_setpoint effective_setpoint clg_stpt',
  ma_t: 'mixed_air_temp mat mixed_air_temp_f mixed_air_t',
  ra_t: 'return_air_temp rat return_air_temp_f return_air_t',
  oa_t: 'outside_air_temp bas_outside_air_temp oat oa_temp outside_air_temp_f weather_oat',
  oa_rh: 'outside_air_humidity oa_h oa_humidity relative_humidity_pct oa_rh_pct',
  oa_damper: 'outside_air_damper oa_damper_pct oa_damper_cmd',
  clg_valve: 'cooling_valve clg_valve_pct cooling_cmd chw_valve chw_valve_pct',
  htg_valve: 'heating_valve htg_valve_pct heating_cmd hw_valve_pct',
  fan_cmd: 'fan_cmd supply_fan tower_fan_cmd cw_fan_cmd',
  fan_speed: 'fan_speed fan_pct fan_percent supply_fan_speed supply_fan_speed_pct',
  return_fan_cmd: 'return_fan_cmd return_fan',
  fan_status: 'fan_status fan_proof supply_fan_status supply_fan_stat',
  duct_static: 'duct_static_pressure duct_static da_p_inwc duct_static_inwc',
  duct_static_sp: 'duct_static_pressure_sp duct_static_sp da_p_setpoint_inwc duct_press_sp',
  static_reset_requests: 'vav_pressure_request_sum static_reset_request',
  clg_coil_enter_t: 'cooling_coil_entering_temp ccet',
  clg_coil_leave_t: 'cooling_coil_leaving_temp cclt',
  htg_coil_enter_t: 'heating_coil_entering_temp hcet',
  htg_coil_leave_t: 'heating_coil_leaving_temp hclt',
  preheat_t: 'preheat_leaving_temp preheat_leave_t',
  chiller_status: 'chiller_status chiller_proof',
  chiller_current: 'chiller_amps chiller_current',
  kw: 'chiller_power power',
  compressor_status: 'compressor_status',
  compressor_cmd: 'dx_cool_cmd',
  loop_enable: 'loop_enabled pid_enable',
  load_satisfied: 'building_zone_load_satisfied building_ahu_load_satisfied',
  zone_t: 'zone_air_temp zone_t zone_temp zone_temperature space_temp zn_t',
  zone_flow: 'zone_airflow airflow zone_flow actflow flow_input',
  sa_flow: 'vav_total_airflow vav_total_flow total_airflow ahu_total_airflow',
  zone_flow_min: 'min_flow_sp minflowsp min_airflow',
  damper: 'damper damper_pct zone_damper vav_damper',
  reheat_valve: 'reheat_valve reheat_valve_pct rht_valve',
  discharge_t: 'vav_discharge_air_temp vav_discharge_t',
  chw_supply_t: 'chilled_water_supply_temp chw_st chws_t chw_supply chwst chws_t_f',
  chw_supply_t_sp: 'chilled_water_supply_temp_sp chw_supply_sp',
  chw_return_t: 'chilled_water_return_temp chw_rt chwr_t chw_return chwrt chwr_t_f',
  chw_dp: 'chw_diff_pressure',
  chw_dp_sp: 'chw_diff_pressure_sp',
  chw_flow: 'chw_flow',
  pump_cmd: 'chw_pump_cmd',
  pump_status: 'chw_pump_status pump_status',
  cw_pump_cmd: 'cw_pump_cmd',
  cw_supply_t: 'condenser_water_supply_temp',
  cw_return_t: 'condenser_water_return_temp',
  hw_supply_t: 'hot_water_supply_temp hws_t hw_supply hwst hws_t_f',
  hw_return_t: 'hot_water_return_temp hwr_t hw_return hwrt hwr_t_f',
  occ: 'occupied occ_mode occupancy schedule',
  wx_oa_t: 'web_outside_air_temp web_oa_t',
  wx_dp_t: 'web_outside_air_dewpoint web_oa_dp',
  wx_wb_t: 'web_outside_air_wetbulb web_wb_t',
  wx_oa_rh: 'web_outside_air_humidity web_oa_h',
})

/** The same for names with another role on a terminal. */
const ON_TERMINALS = nameTable<string>({
  discharge_t: 'discharge_air_temp sat supply_air_temp supply_air_temperature discharge_air_temp_f',
  discharge_t_sp: 'discharge_air_temp_sp sat_sp sat_setpoint dat_reset dat_reset_f sat_sp_f sat_setpoint_f',
  zone_t_sp_cool: 'cooling_setpoint clg_stpt',
  zone_t_sp: 'effective_setpoint',
})
const ON_BOXES = nameTable<string>({ reheat_valve: 'heating_valve htg_valve_pct heating_cmd hw_valve_pct' })
const ELSEWHERE = nameTable<string>({ sa_flow: 'airflow actflow flow_input' })

const byName = (table: Record<string, string>) =>
  new Map(Object.entries(table).flatMap(([role, names]) => names.split(' ').map(name => [name, role] as const)))
const ALWAYS = byName(NAMES)
const TERMINAL = byName(ON_TERMINALS)
const BOX = byName(ON_BOXES)
const OTHER = byName(ELSEWHERE)

/**
 * @returns the role of a name of the reference platform on equipment of a type; the name may have `-`, `_` or blanks, in
 *   any case
 */
export function roleOfReference(text: string, type: EquipmentType): string | undefined {
  const name = text
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
  const own = TERMINALS.has(type) ? ((type === 'vav' ? BOX.get(name) : undefined) ?? TERMINAL.get(name)) : OTHER.get(name)
  return own ?? ALWAYS.get(name)
}

/** Role of a command → role of the same name where its values lie between off and on. */
export const SPEED_OF = nameTable<string>({
  fan_cmd: 'fan_speed',
  return_fan_cmd: 'return_fan_speed',
  pump_cmd: 'pump_speed',
})
