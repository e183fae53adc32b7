/** The reference platform's names, and what each means here. */
import test from 'ava'
import { readFileSync } from 'node:fs'
import { roleOfHeader } from '#shared/core/csv/header-names.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { dataPath, testWithData } from '../../../support/optional.ts'

/** Names in one line mean the same. */
const NAMES: [type: EquipmentType, role: string, names: string][] = [
  ['ahu', 'sa_t', 'discharge-air-temp sat supply_air_temp supply_air_temperature discharge_air_temp discharge_air_temp_f'],
  [
    'ahu',
    'sa_t_sp',
    'discharge-air-temp-sp sat_sp sat_setpoint dat_reset dat_reset_f sat_sp_f sat_setpoint_f cooling_setpoint effective_setpoint clg_stpt',
  ],
  ['ahu', 'ma_t', 'mixed-air-temp mat ma_t mixed_air_temp mixed_air_temp_f mixed_air_t'],
  ['ahu', 'ra_t', 'return-air-temp rat ra_t return_air_temp return_air_temp_f return_air_t'],
  ['ahu', 'oa_t', 'outside-air-temp bas-outside-air-temp oat oa_t oa_temp outside_air_temp outside_air_temp_f weather_oat'],
  ['ahu', 'oa_rh', 'outside-air-humidity oa_h oa_humidity relative_humidity_pct oa_rh_pct'],
  ['ahu', 'oa_damper', 'outside-air-damper oa_damper_pct oa_damper outside_air_damper oa_damper_cmd'],
  ['ahu', 'clg_valve', 'cooling-valve clg_valve_pct cooling_valve cooling_cmd clg_valve chw_valve chw_valve_pct'],
  ['ahu', 'htg_valve', 'heating-valve htg_valve_pct heating_valve heating_cmd htg_valve hw_valve_pct'],
  ['ahu', 'fan_cmd', 'fan-cmd fan_cmd supply_fan'],
  ['ahu', 'fan_speed', 'fan_speed fan_pct fan_percent supply_fan_speed supply_fan_speed_pct'],
  ['ahu', 'return_fan_cmd', 'return-fan-cmd return_fan'],
  ['ahu', 'fan_status', 'fan-status fan_status fan_proof supply_fan_status supply_fan_stat'],
  ['ahu', 'duct_static', 'duct-static-pressure duct_static da_p_inwc duct_static_inwc'],
  ['ahu', 'duct_static_sp', 'duct-static-pressure-sp duct_static_sp da_p_setpoint_inwc duct_press_sp'],
  ['ahu', 'static_reset_requests', 'vav-pressure-request-sum static-reset-request static_reset_request'],
  ['ahu', 'clg_coil_enter_t', 'cooling-coil-entering-temp ccet'],
  ['ahu', 'clg_coil_leave_t', 'cooling-coil-leaving-temp cclt'],
  ['ahu', 'htg_coil_enter_t', 'heating-coil-entering-temp hcet'],
  ['ahu', 'htg_coil_leave_t', 'heating-coil-leaving-temp hclt'],
  ['ahu', 'preheat_t', 'preheat-leaving-temp preheat_leave_t'],
  ['chiller', 'chiller_status', 'chiller-status chiller_status chiller_proof'],
  ['chiller', 'kw', 'chiller-power power chiller_power'],
  ['chiller', 'chiller_current', 'chiller-amps chiller_amps chiller-current chiller_current'],
  ['rtu', 'compressor_status', 'compressor-status compressor_status'],
  ['rtu', 'compressor_cmd', 'dx-cool-cmd'],
  ['ahu', 'loop_enable', 'loop-enabled pid_enable'],
  ['vav', 'zone_t', 'zone-air-temp zone_t zone_temp zone_temperature space_temp zn_t'],
  ['vav', 'zone_flow', 'zone-airflow airflow zone_flow zone_airflow actflow flow_input'],
  ['ahu', 'sa_flow', 'vav-total-airflow vav_total_flow total_airflow ahu_total_airflow'],
  ['vav', 'zone_flow_min', 'min-flow-sp min_flow_sp minflowsp min_airflow'],
  ['vav', 'damper', 'damper damper_pct zone_damper vav_damper'],
  ['vav', 'reheat_valve', 'reheat-valve reheat_valve_pct reheat_valve rht_valve'],
  ['vav', 'discharge_t', 'vav-discharge-air-temp vav_discharge_t'],
  ['vav', 'sa_t', 'vav-inlet-air-temp vav_inlet_t ahu-discharge-air-temp ahu_sat'],
  ['chw_plant', 'chw_supply_t', 'chilled-water-supply-temp chw-st chws_t chw_supply chwst chws_t_f chw_supply_t'],
  ['chw_plant', 'chw_supply_t_sp', 'chilled-water-supply-temp-sp chw_supply_sp'],
  ['chw_plant', 'chw_return_t', 'chilled-water-return-temp chw-rt chwr_t chw_return chwrt chwr_t_f chw_return_t'],
  ['chw_plant', 'chw_dp', 'chw-diff-pressure chw_dp'],
  ['chw_plant', 'chw_dp_sp', 'chw-diff-pressure-sp chw_dp_sp'],
  ['chw_plant', 'chw_flow', 'chw-flow chw_flow'],
  ['chw_plant', 'pump_cmd', 'chw-pump-cmd chw_pump_cmd'],
  ['chw_plant', 'pump_status', 'chw-pump-status chw_pump_status pump-status pump_status'],
  ['chw_plant', 'cw_pump_cmd', 'cw-pump-cmd cw_pump_cmd'],
  ['cooling_tower', 'fan_cmd', 'tower-fan-cmd cw-fan-cmd tower_fan_cmd'],
  ['chw_plant', 'cw_supply_t', 'condenser-water-supply-temp cw_supply_t'],
  ['chw_plant', 'cw_return_t', 'condenser-water-return-temp cw_return_t'],
  ['hw_plant', 'hw_supply_t', 'hot-water-supply-temp hws_t hw_supply hwst hws_t_f hw_supply_t'],
  ['hw_plant', 'hw_return_t', 'hot-water-return-temp hwr_t hw_return hwrt hwr_t_f hw_return_t'],
  ['vav', 'occ', 'occupied occ_mode occupancy schedule'],
  ['weather', 'wx_oa_t', 'web-outside-air-temp web_oa_t'],
  ['weather', 'wx_dp_t', 'web-outside-air-dewpoint web_oa_dp'],
  ['weather', 'wx_wb_t', 'web-outside-air-wetbulb web_wb_t'],
  ['weather', 'wx_oa_rh', 'web-outside-air-humidity web_oa_h'],
  ['ahu', 'load_satisfied', 'building-zone-load-satisfied building-ahu-load-satisfied'],
]

test('every name of the reference platform stands for its role, in a map and as a header', t => {
  for (const [type, role, names] of NAMES) {
    t.truthy(ROLES[role], role)
    for (const name of names.split(' ')) t.is(roleOfHeader(name, type), role, `${name} of ${type}`)
  }
})

test('a name of the reference platform is known however its words are joined', t => {
  for (const name of ['discharge-air-temp', 'Discharge Air Temp', 'DISCHARGE_AIR_TEMP']) t.is(roleOfHeader(name, 'ahu'), 'sa_t')
})

test('discharge air, airflow and a heating valve mean a box’s own on a box', t => {
  for (const [name, vav, ahu] of [
    ['discharge-air-temp', 'discharge_t', 'sa_t'],
    ['ahu-discharge-air-temp', 'sa_t', 'sa_t'],
    ['airflow', 'zone_flow', 'sa_flow'],
    ['heating-valve', 'reheat_valve', 'htg_valve'],
    ['clg_stpt', 'zone_t_sp_cool', 'sa_t_sp'],
  ] as const) {
    t.deepEqual([roleOfHeader(name, 'vav'), roleOfHeader(name, 'ahu')], [vav, ahu], name)
  }
})

testWithData('every name of the platform’s own list has a role here', t => {
  const [, ...lines] = readFileSync(dataPath('reference-roles.csv'), 'utf8').trim().split('\n')
  const names = lines.flatMap(line => line.split(',')[0]!.split('|'))
  t.true(names.length > 150)
  t.deepEqual(
    names.filter(name => roleOfHeader(name, 'ahu') === undefined),
    [],
  )
})
