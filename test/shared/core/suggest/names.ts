/** Point names in the habits of several kinds of building systems, each with the role that it is meant to be; null: none of ours. */
import type { EquipmentType, PointKind } from '#shared/core/model/model.ts'

type Line = readonly [name: string, unit: string, kind: PointKind, role: string | null]
const t = (name: string, role: string | null): Line => [name, 'degF', 'number', role]
const pct = (name: string, role: string | null): Line => [name, 'percent', 'number', role]
const flag = (name: string, role: string | null): Line => [name, 'bool', 'bool', role]
const flow = (name: string, role: string | null): Line => [name, 'cfm', 'number', role]
const water = (name: string, role: string | null): Line => [name, 'gpm', 'number', role]
const inwc = (name: string, role: string | null): Line => [name, 'inwc', 'number', role]
const psi = (name: string, role: string | null): Line => [name, 'psi', 'number', role]

export const NAMES: Partial<Record<EquipmentType, readonly (readonly Line[])[]>> = {
  ahu: [
    // short capitals with a letter for input, output, command and status
    [
      t('AHU-1 DA-T', 'sa_t'),
      t('AHU-1 DA-T-SP', 'sa_t_sp'),
      t('AHU-1 MA-T', 'ma_t'),
      t('AHU-1 RA-T', 'ra_t'),
      t('AHU-1 OA-T', 'oa_t'),
      pct('AHU-1 CLG-O', 'clg_valve'),
      pct('AHU-1 HTG-O', 'htg_valve'),
      pct('AHU-1 PH-O', 'preheat_valve'),
      flag('AHU-1 SF-C', 'fan_cmd'),
      flag('AHU-1 SF-S', 'fan_status'),
      pct('AHU-1 SF-O', 'fan_speed'),
      flag('AHU-1 RF-S', 'return_fan_status'),
      inwc('AHU-1 DA-P', 'duct_static'),
      inwc('AHU-1 DA-P-SP', 'duct_static_sp'),
      inwc('AHU-1 BLDG-P', 'bldg_static'),
      pct('AHU-1 RA-H', 'ra_rh'),
    ],
    // words run together
    [
      t('SupplyAirTemp', 'sa_t'),
      t('SupplyAirTempSetpoint', 'sa_t_sp'),
      t('ReturnAirTemp', 'ra_t'),
      t('MixedAirTemperature', 'ma_t'),
      t('OutdoorAirTemp', 'oa_t'),
      pct('CoolingValve', 'clg_valve'),
      pct('HeatingValveCmd', 'htg_valve'),
      pct('CoolingValveFeedback', 'clg_valve_pos'),
      pct('OutdoorAirDamper', 'oa_damper'),
      pct('ReturnAirDamperCmd', 'ra_damper'),
      pct('ExhaustAirDamper', 'ea_damper'),
      pct('SupplyFanSpeed', 'fan_speed'),
      flag('SupplyFanStatus', 'fan_status'),
      flag('SupplyFanCommand', 'fan_cmd'),
      flag('ReturnFanStatus', 'return_fan_status'),
      inwc('SupplyAirStaticPressure', 'duct_static'),
      inwc('SupplyAirStaticPressureSetpoint', 'duct_static_sp'),
      inwc('FilterDiffPressure', 'filter_dp'),
      flow('SupplyAirFlow', 'sa_flow'),
      flow('OutdoorAirFlow', 'oa_flow'),
      flag('OccupancyMode', 'occ'),
      flag('SmokeDetector', null),
      flag('FreezeStat', null),
      t('LowLimitAlarmSetting', null),
    ],
    // a path with a bar or dots
    [
      t('B12.AHU03.SAT', 'sa_t'),
      t('B12.AHU03.SAT_SP', 'sa_t_sp'),
      t('B12.AHU03.MAT', 'ma_t'),
      t('B12.AHU03.RAT', 'ra_t'),
      t('B12.AHU03.OAT', 'oa_t'),
      pct('B12.AHU03.CHWV', 'clg_valve'),
      pct('B12.AHU03.HWV', 'htg_valve'),
      pct('B12.AHU03.OAD', 'oa_damper'),
      pct('B12.AHU03.SF_VFD', 'fan_speed'),
      flag('B12.AHU03.SF_SS', 'fan_cmd'),
      flag('B12.AHU03.SF_STS', 'fan_status'),
      inwc('B12.AHU03.DSP', 'duct_static'),
      inwc('B12.AHU03.DSP_SP', 'duct_static_sp'),
      pct('B12.AHU03.OAD_MINPOS', 'oa_damper_min'),
      flag('B12.AHU03.ALM', null),
    ],
    // whole words with blanks
    [
      t('Discharge Air Temperature', 'sa_t'),
      t('Discharge Air Temp Set Point', 'sa_t_sp'),
      t('Mixed Air Temp', 'ma_t'),
      t('Outside Air Temperature', 'oa_t'),
      t('Preheat Leaving Air Temp', 'preheat_t'),
      pct('Cooling Valve Position Command', 'clg_valve'),
      pct('Outside Air Damper Position', 'oa_damper_pos'),
      pct('Return Air Humidity', 'ra_rh'),
      flag('Supply Fan Start/Stop', 'fan_cmd'),
      flag('Supply Fan Proof', 'fan_status'),
      inwc('Duct Static Pressure', 'duct_static'),
      inwc('Building Static Pressure', 'bldg_static'),
      t('Analog Value 17', null),
    ],
  ],
  vav: [
    [
      t('VAV-12 ZN-T', 'zone_t'),
      t('VAV-12 DA-T', 'discharge_t'),
      t('VAV-12 ACTCLGSP', 'zone_t_sp_cool'),
      t('VAV-12 ACTHTGSP', 'zone_t_sp_heat'),
      flow('VAV-12 SUPFLOW', 'zone_flow'),
      flow('VAV-12 SUPFLOSP', 'zone_flow_sp'),
      pct('VAV-12 DPR-O', 'damper'),
      pct('VAV-12 HTG-O', 'reheat_valve'),
      flag('VAV-12 OCC-C', 'occ'),
    ],
    [
      t('ZoneTemp', 'zone_t'),
      t('RoomTempCoolingSetpoint', 'zone_t_sp_cool'),
      t('RoomTempHeatingSetpoint', 'zone_t_sp_heat'),
      t('ZoneTempSetpoint', 'zone_t_sp'),
      t('DischargeAirTemp', 'discharge_t'),
      flow('AirFlow', 'zone_flow'),
      flow('AirFlowSetpoint', 'zone_flow_sp'),
      flow('MinAirFlowSetpoint', 'zone_flow_min'),
      flow('MaxAirFlowSetpoint', 'zone_flow_max'),
      pct('DamperPosition', 'damper_pos'),
      pct('DamperCommand', 'damper'),
      pct('ReheatValve', 'reheat_valve'),
      ['ZoneCO2', 'ppm', 'number', 'co2'],
      flag('WindowContact', null),
    ],
    [
      t('Room 214 Space Temperature', 'zone_t'),
      t('Room 214 Space Temp Setpoint', 'zone_t_sp'),
      flow('Room 214 Supply CFM', 'zone_flow'),
      pct('Room 214 Damper Signal', 'damper'),
      pct('Room 214 Reheat Valve Signal', 'reheat_valve'),
      t('Room 214 Local Offset', null),
    ],
  ],
  chw_plant: [
    [
      t('CHWST', 'chw_supply_t'),
      t('CHWRT', 'chw_return_t'),
      t('CHWST_SP', 'chw_supply_t_sp'),
      psi('CHW_DP', 'chw_dp'),
      psi('CHW_DP_SP', 'chw_dp_sp'),
      water('CHW_FLOW', 'chw_flow'),
      t('CWST', 'cw_supply_t'),
      t('CWRT', 'cw_return_t'),
      pct('CHW_BYPASS_VLV', 'chw_bypass_valve'),
      flag('LEAK_ALARM', null),
    ],
    [
      t('Chilled Water Supply Temperature', 'chw_supply_t'),
      t('Chilled Water Return Temperature', 'chw_return_t'),
      t('Chilled Water Supply Temp Setpoint', 'chw_supply_t_sp'),
      psi('Chilled Water Differential Pressure', 'chw_dp'),
      water('Chilled Water Flow', 'chw_flow'),
      t('Condenser Water Return Temp', 'cw_return_t'),
    ],
  ],
  hw_plant: [
    [
      t('HWST', 'hw_supply_t'),
      t('HWRT', 'hw_return_t'),
      t('HWST-SP', 'hw_supply_t_sp'),
      psi('HW-DP', 'hw_dp'),
      t('Hot Water Supply Temp', 'hw_supply_t'),
      t('Hot Water Return Temp', 'hw_return_t'),
    ],
  ],
  pump: [
    [
      flag('P-1 Status', 'pump_status'),
      flag('Pump Start Stop', 'pump_cmd'),
      pct('Pump Speed', 'pump_speed'),
      flag('PumpFault', null),
    ],
  ],
  boiler: [[flag('Boiler Status', 'boiler_status'), flag('Boiler Enable', 'boiler_cmd'), flag('BLR-1 Low Water Cutoff', null)]],
  chiller: [
    [flag('Chiller Run Status', 'chiller_status'), flag('CH-1 ChillerEnable', 'chiller_cmd'), ['CH-1 kW', 'kW', 'number', 'kw']],
  ],
  meter: [
    [
      ['Main Meter Demand', 'kW', 'number', 'kw'],
      ['Main Meter Energy', 'kWh', 'number', 'kwh'],
    ],
  ],
  weather: [[t('Outside Air Temp', 'wx_oa_t'), t('OA Wet Bulb', 'wx_wb_t'), t('Dew Point', 'wx_dp_t')]],
}
