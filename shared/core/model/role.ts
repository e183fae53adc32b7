import { nameTable } from '#shared/core/name-table.ts'

export const ROLE_KINDS = ['number', 'bool', 'enum'] as const

/**
 * The role of a point for its equipment. Rules read roles, never point names.
 *
 * `unit` is the canonical unit in which rules see the role; `range` is what is physically plausible in that unit: a
 * value outside is suspect and no rule but the range rule looks at it.
 */
export type Role = {
  unit: string
  kind: (typeof ROLE_KINDS)[number]
  range: readonly [number, number]
  /** A value within `range` but beyond these is read as the nearer of the two: a signal's end stops. */
  stops?: readonly [number, number]
  /** Set points and schedules rest for days; flat or stale is normal for them. */
  rests: boolean
  haystack: string
  /** Name in words, in the style of Brick; `classOfRole` has the class that Brick really has. */
  label: string
  /** Names under which packages and point lists carry it. */
  aliases: readonly string[]
}

type Shape = Pick<Role, 'unit' | 'kind' | 'range' | 'stops' | 'rests'>
/** @source duct sensors of makers measure at least −40 to 70 °C (Siemens QAM: −50 to 80 °C); broken and shorted elements read far beyond */
const AIR: Shape = { unit: 'degC', kind: 'number', range: [-40, 70], rests: false }
/** @source WMO: 56.7 °C is the highest ever measured; only a few inland places of the Arctic pass −50 °C, the lower end of most outdoor sensors */
const OUTDOOR: Shape = { ...AIR, range: [-50, 60] }
/** @source room sensors are made for 0 to 50 °C; so 72 °F taken for °C and 22 °C taken for °F (−6 °C) lie beyond */
const ROOM: Shape = { ...AIR, range: [0, 50] }
/** @source behind furnaces and electric heaters: UL 1995 and UL 60335-2-40 limit outlet air to 93 °C (200 °F) */
const DUCT: Shape = { ...AIR, range: [-40, 95] }
/** @source between frost protection and the hottest supply air that ASHRAE Guideline 36 asks for, with room for °C that are not used (0) */
const SET_POINT: Shape = { ...AIR, range: [0, 60], rests: true }
/** @source ASHRAE HVAC Systems and Equipment 2020 ch. 51: ice is made with glycol of −6 to −3 °C; a loop at rest takes its room's temperature */
const CHILLED: Shape = { ...AIR, range: [-10, 50] }
/** @source ASHRAE HVAC Systems and Equipment 2020 ch. 13: low-temperature water ends at 121 °C (250 °F); a glycol loop outdoors may freeze */
const HOT: Shape = { ...AIR, range: [-10, 121] }
/**
 * Scaling and calibration put the end of a stroke some percent below 0 or above 100; live-zero signals (4 to 20 mA, 2 to 10 V) whose
 * zero was not set up right rest lower still. Beyond 10 % it is no end of a stroke. @source NAMUR NE 43: −1.25 to 103.1 % of the span
 * (3.8 to 20.5 mA) is measurement, failure begins at −2.5 and 106.25 %; doubled for actuators that are not of its kind
 */
const SIGNAL: Shape = { unit: 'fraction', kind: 'number', range: [-0.1, 1.1], stops: [0, 1], rests: true }
/** @source ASHRAE Fundamentals 2021 ch. 1: relative humidity ends at 1; capacitive elements read some percent beyond when wet */
const HUMIDITY: Shape = { unit: 'fraction', kind: 'number', range: [-0.02, 1.05], rests: false }
/** @source off and on, or 0 to 1 of a mean */
const FLAG: Shape = { unit: 'bool', kind: 'bool', range: [0, 1], rests: true }
/** @source ASHRAE 135 12.20: a multi-state value counts from 1; makers number modes up to a byte */
const MODE: Shape = { unit: 'enum', kind: 'enum', range: [0, 255], rests: true }
/** @source the largest built-up air handlers move some 200 m³/s (400,000 cfm); below zero lies the drift of a pressure transmitter's zero */
const AIR_FLOW: Shape = { unit: 'm3/s', kind: 'number', range: [-1, 250], rests: false }
const AIR_FLOW_SP: Shape = { ...AIR_FLOW, rests: true }
/** @source mains of district plants: DN 1000 at 6 m/s; below zero the zero drift of a flow meter */
const WATER_FLOW: Shape = { unit: 'm3/s', kind: 'number', range: [-0.1, 5], rests: false }
/** @source SMACNA HVAC Duct Construction Standards: pressure classes end at ±10 in.w.c. (2.5 kPa); a fan against shut dampers gives some more */
const DUCT_PRESSURE: Shape = { unit: 'Pa', kind: 'number', range: [-1500, 3000], rests: false }
/** @source EN 1333: heating and cooling plants are built up to PN 25 (2.5 MPa); a pump's suction side may lie below the atmosphere */
const WATER_PRESSURE: Shape = { unit: 'Pa', kind: 'number', range: [-50_000, 2_500_000], rests: false }
const WATER_FLOW_SP: Shape = { ...WATER_FLOW, rests: true }
/** @source saturation temperatures of R-410A, R-134a, R-717 and R-1234ze: evaporators down to −60 °C, condensers of heat pumps up to 120 °C */
const REFRIGERANT: Shape = { ...AIR, range: [-60, 120] }
/** @source requests and counts of a building; below zero there is none */
const COUNT: Shape = { unit: 'count', kind: 'number', range: [0, 10_000], rests: true }
/** @source main meters up to 50 MW; feeding back (photovoltaics, cogeneration) counts below zero */
const POWER: Shape = { unit: 'kW', kind: 'number', range: [-5000, 50_000], rests: false }
/** A motor that stands draws nothing for days. @source bus bars of large switchboards carry up to 6,300 A (IEC 61439); below zero lies a transmitter's zero drift */
const CURRENT: Shape = { unit: 'A', kind: 'number', range: [-1, 10_000], rests: true }
/** @source counters of 12 digits; a counter that runs below zero is set wrongly */
const ENERGY: Shape = { unit: 'kWh', kind: 'number', range: [0, 1e12], rests: false }

const role = (shape: Shape, haystack: string, label: string, ...aliases: string[]): Role => ({
  ...shape,
  haystack,
  label,
  aliases,
})

/** @source Project Haystack 4 tag names; ranges: at each shape */
export const ROLES = nameTable<Role>({
  oa_t: role(OUTDOOR, 'outside air temp sensor', 'Outside_Air_Temperature_Sensor', 'oat', 'oa_temp', 'outdoor air temperature'),
  ma_t: role(AIR, 'mixed air temp sensor', 'Mixed_Air_Temperature_Sensor', 'mat', 'mixed air temperature'),
  ra_t: role(AIR, 'return air temp sensor', 'Return_Air_Temperature_Sensor', 'rat', 'return air temperature'),
  sa_t: role(DUCT, 'discharge air temp sensor', 'Supply_Air_Temperature_Sensor', 'sat', 'supply air temperature', 'da_t'),
  preheat_t: role(DUCT, 'preheat leaving air temp sensor', 'Preheat_Discharge_Air_Temperature_Sensor', 'preheat_leave_t'),
  clg_coil_enter_t: role(DUCT, 'cool entering air temp sensor', 'Entering_Cooling_Coil_Air_Temperature_Sensor', 'ccet'),
  clg_coil_leave_t: role(DUCT, 'cool leaving air temp sensor', 'Leaving_Cooling_Coil_Air_Temperature_Sensor', 'cclt'),
  htg_coil_enter_t: role(DUCT, 'heat entering air temp sensor', 'Entering_Heating_Coil_Air_Temperature_Sensor', 'hcet'),
  htg_coil_leave_t: role(DUCT, 'heat leaving air temp sensor', 'Leaving_Heating_Coil_Air_Temperature_Sensor', 'hclt'),
  // Of a unit with two ducts supply air is that of the cold one.
  hot_deck_t: role(DUCT, 'hotDeck air temp sensor', 'Hot_Deck_Air_Temperature_Sensor', 'hot_deck_temp', 'hdt'),
  hr_leave_t: role(AIR, 'heatRecovery leaving air temp sensor', 'Heat_Wheel_Discharge_Air_Temperature_Sensor', 'hrw_leave_t'),
  sa_t_sp: role(
    SET_POINT,
    'discharge air temp sp',
    'Supply_Air_Temperature_Setpoint',
    'sat_sp',
    'supply air temperature set point',
    'dat-sp',
  ),
  sa_t_sp_heat: role(
    SET_POINT,
    'discharge air heating temp sp',
    'Supply_Air_Temperature_Heating_Setpoint',
    'sat_sp_h',
    'supply air temperature heating set point',
  ),
  sa_t_sp_cool: role(
    { ...SET_POINT, range: [0, 90] },
    'discharge air cooling temp sp',
    'Supply_Air_Temperature_Cooling_Setpoint',
    'sat_sp_c',
    'supply air temperature cooling set point',
  ),
  duct_static: role(
    DUCT_PRESSURE,
    'discharge air pressure sensor',
    'Supply_Air_Static_Pressure_Sensor',
    'dsp',
    'supply air duct static pressure',
  ),
  duct_static_sp: role(
    { ...DUCT_PRESSURE, rests: true },
    'discharge air pressure sp',
    'Supply_Air_Static_Pressure_Setpoint',
    'dsp_sp',
    'supply air duct static pressure set point',
  ),
  bldg_static: role(DUCT_PRESSURE, 'building air pressure sensor', 'Building_Air_Static_Pressure_Sensor', 'bldg_p'),
  filter_dp: role(DUCT_PRESSURE, 'filter air pressure delta sensor', 'Filter_Differential_Pressure_Sensor'),
  sa_flow: role(AIR_FLOW, 'discharge air flow sensor', 'Supply_Air_Flow_Sensor'),
  oa_flow: role(AIR_FLOW, 'outside air flow sensor', 'Outside_Air_Flow_Sensor'),
  oa_flow_min: role(AIR_FLOW_SP, 'outside air flow min sp', 'Min_Outside_Air_Flow_Setpoint', 'min_oa_flow_sp'),
  sa_rh: role(HUMIDITY, 'discharge air humidity sensor', 'Supply_Air_Humidity_Sensor'),
  ra_rh: role(HUMIDITY, 'return air humidity sensor', 'Return_Air_Humidity_Sensor'),
  oa_rh: role(HUMIDITY, 'outside air humidity sensor', 'Outside_Air_Humidity_Sensor', 'outdoor air humidity'),

  fan_cmd: role(FLAG, 'discharge fan run cmd', 'Fan_On_Off_Command', 'sf_cmd', 'supply fan command'),
  fan_status: role(FLAG, 'discharge fan run sensor', 'Fan_Status', 'sf_status', 'supply air fan status'),
  fan_current: role(CURRENT, 'discharge fan elec current sensor', 'Current_Sensor', 'supply fan current', 'sf_amps'),
  fan_speed: role(
    SIGNAL,
    'discharge fan speed cmd',
    'Fan_Speed_Command',
    'sf_speed',
    'supply air fan speed control signal',
    'ct_speed',
  ),
  fan_speed_pos: role(SIGNAL, 'discharge fan speed sensor', 'Fan_Speed_Status', 'fan speed feedback'),
  return_fan_cmd: role(FLAG, 'return fan run cmd', 'Return_Fan_On_Off_Command', 'rf_cmd'),
  return_fan_status: role(FLAG, 'return fan run sensor', 'Return_Fan_Status', 'rf_status', 'return air fan status'),
  return_fan_speed: role(
    SIGNAL,
    'return fan speed cmd',
    'Return_Fan_Speed_Command',
    'rf_speed',
    'return air fan speed control signal',
  ),
  oa_damper: role(
    SIGNAL,
    'outside air damper cmd',
    'Outside_Damper_Position_Command',
    'oad',
    'outdoor air damper control signal',
  ),
  oa_damper_min: role(SIGNAL, 'outside air damper min sp', 'Min_Outside_Air_Damper_Position_Setpoint', 'oad_min'),
  ra_damper: role(SIGNAL, 'return air damper cmd', 'Return_Damper_Position_Command', 'rad', 'return air damper control signal'),
  ea_damper: role(
    SIGNAL,
    'exhaust air damper cmd',
    'Exhaust_Damper_Position_Command',
    'ead',
    'exhaust air damper control signal',
  ),
  clg_valve: role(SIGNAL, 'cool valve cmd', 'Cooling_Valve_Command', 'ccv', 'cooling coil valve control signal'),
  htg_valve: role(SIGNAL, 'heat valve cmd', 'Heating_Valve_Command', 'hcv', 'heating coil valve control signal'),
  preheat_valve: role(SIGNAL, 'preheat valve cmd', 'Preheat_Valve_Command', 'ph-o'),
  clg_valve_pos: role(SIGNAL, 'cool valve sensor', 'Cooling_Valve_Position_Sensor', 'ccv_pos'),
  htg_valve_pos: role(SIGNAL, 'heat valve sensor', 'Heating_Valve_Position_Sensor', 'hcv_pos'),
  hr_status: role(FLAG, 'heatRecovery run sensor', 'Heat_Wheel_On_Off_Status', 'hrw_on'),
  humidifier: role(SIGNAL, 'humidifier cmd', 'Humidify_Command', 'humidifier command'),
  static_reset_requests: role(
    COUNT,
    'discharge air pressure reset requests',
    'Static_Pressure_Reset_Requests',
    'static_reset_request',
  ),
  occ: role(FLAG, 'occupied', 'Occupancy_Status', 'occ_mode', 'occupancy mode indicator'),

  loop_enable: role(FLAG, 'loop enable cmd', 'Enable_Command', 'loop_enabled', 'pid_enable'),
  load_satisfied: role(FLAG, 'load satisfied sensor', 'Status', 'building-zone-load-satisfied'),

  zone_t: role(ROOM, 'zone air temp sensor', 'Zone_Air_Temperature_Sensor', 'zn-t'),
  zone_t_sp: role(SET_POINT, 'zone air temp sp', 'Zone_Air_Temperature_Setpoint'),
  zone_t_sp_cool: role(SET_POINT, 'zone air cooling temp sp', 'Zone_Air_Cooling_Temperature_Setpoint', 'actclgsp'),
  zone_t_sp_heat: role(SET_POINT, 'zone air heating temp sp', 'Zone_Air_Heating_Temperature_Setpoint', 'acthtgsp'),
  zone_flow: role(AIR_FLOW, 'discharge air flow sensor', 'Discharge_Air_Flow_Sensor', 'supflow', 'vav_flow'),
  zone_flow_sp: role(AIR_FLOW_SP, 'discharge air flow sp', 'Discharge_Air_Flow_Setpoint', 'supflosp'),
  zone_flow_min: role(AIR_FLOW_SP, 'discharge air flow min sp', 'Min_Discharge_Air_Flow_Setpoint', 'min_flow_sp'),
  zone_flow_max: role(AIR_FLOW_SP, 'discharge air flow max sp', 'Max_Discharge_Air_Flow_Setpoint'),
  damper: role(SIGNAL, 'discharge damper cmd', 'Damper_Position_Command', 'damper_pct', 'dpr-o'),
  reheat_valve: role(SIGNAL, 'reheat valve cmd', 'Reheat_Valve_Command', 'rhv', 'htg-o'),
  damper_pos: role(SIGNAL, 'discharge damper sensor', 'Damper_Position_Sensor', 'damper feedback'),
  reheat_valve_pos: role(SIGNAL, 'reheat valve sensor', 'Reheat_Valve_Position_Sensor', 'rhv_pos'),
  reset_requests: role(COUNT, 'zone cooling reset requests', 'Zone_Reset_Requests', 'zone requests'),
  discharge_t: role(DUCT, 'discharge air temp sensor', 'Discharge_Air_Temperature_Sensor', 'vav_discharge_t', 'da-t'),
  discharge_t_sp: role(
    { ...DUCT, rests: true },
    'zone discharge air temp sp',
    'Discharge_Air_Temperature_Setpoint',
    'vav_discharge_sp',
  ),
  co2: role({ unit: 'ppm', kind: 'number', range: [0, 10_000], rests: false }, 'zone air co2 sensor', 'CO2_Level_Sensor'),
  co2_sp: role({ unit: 'ppm', kind: 'number', range: [0, 10_000], rests: true }, 'zone air co2 sp', 'CO2_Setpoint'),

  chw_supply_t: role(CHILLED, 'chilled water leaving temp sensor', 'Leaving_Chilled_Water_Temperature_Sensor'),
  chw_return_t: role(CHILLED, 'chilled water entering temp sensor', 'Entering_Chilled_Water_Temperature_Sensor'),
  chw_supply_t_sp: role(
    { ...CHILLED, rests: true },
    'chilled water leaving temp sp',
    'Leaving_Chilled_Water_Temperature_Setpoint',
    'chw_supply_sp',
  ),
  chw_flow_min_sp: role(WATER_FLOW_SP, 'chilled water flow min sp', 'Chilled_Water_Flow_Setpoint'),
  chw_bypass_valve: role(SIGNAL, 'chilled water bypass valve cmd', 'Bypass_Command'),
  chw_reset_requests: role(COUNT, 'chilled water temp reset requests', 'Cooling_Request_Setpoint', 'chwst_requests'),
  chw_flow: role(WATER_FLOW, 'chilled water flow sensor', 'Chilled_Water_Flow_Sensor'),
  chw_dp: role(WATER_PRESSURE, 'chilled water pressure delta sensor', 'Chilled_Water_Differential_Pressure_Sensor'),
  chw_dp_sp: role(
    { ...WATER_PRESSURE, rests: true },
    'chilled water pressure delta sp',
    'Chilled_Water_Differential_Pressure_Setpoint',
  ),
  cw_supply_t: role(CHILLED, 'condenser water entering temp sensor', 'Entering_Condenser_Water_Temperature_Sensor'),
  cw_return_t: role(
    { ...CHILLED, range: [-10, 70] },
    'condenser water leaving temp sensor',
    'Leaving_Condenser_Water_Temperature_Sensor',
  ),
  cw_supply_t_sp: role(SET_POINT, 'condenser water entering temp sp', 'Entering_Condenser_Water_Temperature_Setpoint', 'cwst_sp'),
  evap_refr_t: role(REFRIGERANT, 'refrig evaporator temp sensor', 'Evaporator_Refrigerant_Temperature_Sensor', 'refr_evap_t'),
  cond_refr_t: role(REFRIGERANT, 'refrig condenser temp sensor', 'Condenser_Refrigerant_Temperature_Sensor', 'refr_cond_t'),
  wse_status: role(FLAG, 'economizer heatExchanger run sensor', 'On_Off_Status', 'wse_on'),
  wse_chw_t: role(
    CHILLED,
    'economizer heatExchanger chilled water leaving temp sensor',
    'Heat_Exchanger_Leaving_Water_Temperature_Sensor',
    'chwrt_after',
  ),
  stage: role(MODE, 'plant stage', 'Stages_Status', 'plant_stage', 'chiller_stage', 'boiler_stage'),
  system_pressure: role(WATER_PRESSURE, 'water pressure sensor', 'Water_Pressure_Sensor', 'gauge_p'),
  hw_supply_t: role(HOT, 'hot water leaving temp sensor', 'Leaving_Hot_Water_Temperature_Sensor'),
  hw_return_t: role(HOT, 'hot water entering temp sensor', 'Entering_Hot_Water_Temperature_Sensor'),
  hw_supply_t_sp: role({ ...HOT, rests: true }, 'hot water leaving temp sp', 'Leaving_Hot_Water_Temperature_Setpoint'),
  hw_flow: role(WATER_FLOW, 'hot water flow sensor', 'Hot_Water_Flow_Sensor'),
  hw_flow_min_sp: role(WATER_FLOW_SP, 'hot water flow min sp', 'Hot_Water_Flow_Setpoint'),
  hw_bypass_valve: role(SIGNAL, 'hot water bypass valve cmd', 'Bypass_Command'),
  hw_dp: role(WATER_PRESSURE, 'hot water pressure delta sensor', 'Hot_Water_Differential_Pressure_Sensor'),
  hw_dp_sp: role({ ...WATER_PRESSURE, rests: true }, 'hot water pressure delta sp', 'Hot_Water_Differential_Pressure_Setpoint'),
  hw_reset_requests: role(COUNT, 'hot water temp reset requests', 'Heating_Request_Setpoint', 'hwst_requests'),
  pump_cmd: role(FLAG, 'pump run cmd', 'Pump_On_Off_Command'),
  cw_pump_cmd: role(FLAG, 'condenser water pump run cmd', 'Pump_On_Off_Command'),
  pump_status: role(FLAG, 'pump run sensor', 'Pump_On_Off_Status'),
  pump_current: role(CURRENT, 'pump elec current sensor', 'Current_Sensor', 'pump_amps'),
  pump_speed: role(SIGNAL, 'pump speed cmd', 'Pump_Speed_Command'),
  chiller_cmd: role(FLAG, 'chiller run cmd', 'Chiller_On_Off_Command'),
  chiller_status: role(FLAG, 'chiller run sensor', 'Chiller_On_Off_Status'),
  chiller_current: role(CURRENT, 'chiller elec current sensor', 'Current_Sensor', 'chiller_amps'),
  boiler_cmd: role(FLAG, 'boiler run cmd', 'Boiler_On_Off_Command'),
  boiler_status: role(FLAG, 'boiler run sensor', 'Boiler_On_Off_Status'),
  mode: role(MODE, 'mode', 'Operating_Mode_Status'),

  compressor_cmd: role(FLAG, 'compressor run cmd', 'Compressor_On_Off_Command', 'comp_cmd'),
  compressor_status: role(FLAG, 'compressor run sensor', 'Compressor_On_Off_Status', 'comp_status'),
  heat_status: role(FLAG, 'heating run sensor', 'Heating_On_Off_Status', 'heat_on'),
  aux_heat: role(FLAG, 'auxiliary heating run sensor', 'Auxiliary_Heating_On_Off_Status', 'aux_heat_status'),
  defrost: role(FLAG, 'defrost run sensor', 'Defrost_Status'),
  oa_damper_pos: role(SIGNAL, 'outside air damper position sensor', 'Outside_Damper_Position_Sensor', 'oad_pos'),

  kw: role(POWER, 'elec active power sensor', 'Electric_Power_Sensor'),
  kwh: role(ENERGY, 'elec active energy sensor', 'Electric_Energy_Sensor'),
  wx_oa_t: role(OUTDOOR, 'weather air temp sensor', 'Outside_Air_Temperature_Sensor', 'web_oa_t'),
  wx_oa_rh: role(HUMIDITY, 'weather air humidity sensor', 'Outside_Air_Humidity_Sensor', 'web_oa_h'),
  wx_wb_t: role(OUTDOOR, 'weather air wetBulb temp sensor', 'Outside_Air_Wet_Bulb_Temperature_Sensor', 'web_wb_t'),
  wx_dp_t: role(OUTDOOR, 'weather air dewPoint temp sensor', 'Outside_Air_Dewpoint_Temperature_Sensor', 'web_oa_dp'),
})

const NAMES = new Map(
  Object.entries(ROLES).flatMap(([name, { aliases }]) => [name, ...aliases].map(alias => [alias.toLowerCase(), name] as const)),
)

/** @returns the role that a name stands for: the role's own name or one of its aliases, in any case; else undefined */
export const roleOf = (text: string): string | undefined => NAMES.get(text.trim().toLowerCase())

/** @returns `value` as rules read it: a signal a little beyond its end stop stands at the stop; else `value` itself */
export function readAs(role: string, value: number): number {
  const known = Object.hasOwn(ROLES, role) ? ROLES[role] : undefined
  if (!known?.stops) return value
  const [lowest, highest] = known.range
  const [shut, open] = known.stops
  if (value < shut) return value >= lowest ? shut : value
  return value > open && value <= highest ? open : value
}

/** @returns whether the role is measured: no command, set point, mode or count, which a sensor cannot get wrong */
export const isMeasured = (role: string): boolean =>
  Object.hasOwn(ROLES, role) && ROLES[role]!.haystack.split(' ').includes('sensor')

/** @returns the three role names most like `text`, for "did you mean" */
export function nearestRoles(text: string): string[] {
  const wanted = text.trim().toLowerCase()
  return Object.keys(ROLES)
    .map(name => ({ name, distance: editDistance(wanted, name) }))
    .toSorted((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1))
    .slice(0, 3)
    .map(({ name }) => name)
}

function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    previous = row
  }
  return previous[b.length]!
}
