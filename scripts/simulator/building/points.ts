/** Every point of the simulated site: its address, its role and how it is read. */
import { ROLES } from '#shared/core/model/role.ts'
import { conversion } from '#shared/core/model/unit.ts'
import type { OBJECT_TYPES } from '../bacnet/objects.ts'
import type { FaultName } from './faults.ts'
import type { SimRegister } from '../modbus/device.ts'
import { type Building, condenserIn, setPoints, ZONES, type Zone } from './physics.ts'

type ObjectKind = keyof typeof OBJECT_TYPES
type BacnetAt = { bus: 'bacnet'; object: ObjectKind; instance: number }
type ModbusAt = { bus: 'modbus'; table: SimRegister['table']; address: number; register: SimRegister['kind']; scale?: number }

export type SimPoint = {
  point_id: string
  device_id: string
  equipment_id: string
  name: string
  unit: string
  kind: 'number' | 'bool'
  role?: string
  at: BacnetAt | ModbusAt
  /** In the role's canonical unit; without a role in the point's own. */
  read: (building: Building) => number
  /** Deviation of the sensor's noise, in the point's own unit. */
  noise: number
  /** While this fault is there, the device answers an error. */
  silencedBy?: FaultName
  /** While this fault is there, the sensor does not even make noise. */
  deadIn?: FaultName
}

/** Deviations of sensor noise in the point's own unit; commands and set points have none. */
const NOISE: Record<string, number> = { degF: 0.12, inwc: 0.006, cfm: 10, kW: 0.15, 'L/s': 0.01, Hz: 0.01 }
const SETTLED = /_sp(_|$)|_min$|_max$/

type Owner = Pick<SimPoint, 'device_id' | 'equipment_id'>

/** @param key the role; a key that is no role makes a point that is stored and shown, but read by no rule */
function point(owner: Owner, at: BacnetAt | ModbusAt, key: string, name: string, unit: string, read: SimPoint['read']): SimPoint {
  const measured = !SETTLED.test(key) && NOISE[unit] !== undefined
  const kind = unit === 'bool' ? 'bool' : 'number'
  const role = ROLES[key] ? { role: key } : {}
  const point_id = `${owner.equipment_id}.${key}`
  return { ...owner, ...role, point_id, name, unit, kind, at, read, noise: measured ? NOISE[unit]! : 0 }
}

type Column = [object: ObjectKind, key: string, name: string, unit: string, read: SimPoint['read']]

/** Numbers the objects of each type from 1, in the order given. */
function bacnetPoints(owner: Owner, columns: Column[], first = 1): SimPoint[] {
  const next: Record<string, number> = {}
  return columns.map(([object, key, name, unit, read]) => {
    const instance = next[object] ?? first
    next[object] = instance + 1
    return point(owner, { bus: 'bacnet', object, instance }, key, name, unit, read)
  })
}

const AHU: Owner = { device_id: 'ahu-1', equipment_id: 'AHU-1' }
const airHandler = bacnetPoints(AHU, [
  ['AI', 'oa_t', 'Outdoor air temperature', 'degF', b => b.oa],
  ['AI', 'ma_t', 'Mixed air temperature', 'degF', b => b.ma],
  ['AI', 'ra_t', 'Return air temperature', 'degF', b => b.ra],
  ['AI', 'sa_t', 'Supply air temperature', 'degF', b => b.sa],
  ['AV', 'sa_t_sp', 'Supply air temperature set point', 'degF', () => setPoints.sa],
  ['AI', 'duct_static', 'Duct static pressure', 'inwc', b => b.static],
  ['AV', 'duct_static_sp', 'Duct static pressure set point', 'inwc', () => setPoints.static],
  ['AI', 'filter_dp', 'Filter pressure drop', 'inwc', b => 14 * b.flow ** 2],
  ['AI', 'sa_flow', 'Supply air flow', 'cfm', b => b.flow],
  ['AO', 'fan_speed', 'Supply fan speed', 'percent', b => b.fanSpeed],
  ['BO', 'fan_cmd', 'Supply fan command', 'bool', b => Number(b.running)],
  ['BI', 'fan_status', 'Supply fan status', 'bool', b => Number(b.running)],
  ['AO', 'oa_damper', 'Outdoor air damper', 'percent', b => b.oaDamper],
  ['AV', 'oa_damper_min', 'Outdoor air damper minimum', 'percent', () => setPoints.oaMin],
  ['AO', 'ra_damper', 'Return air damper', 'percent', b => (b.running ? 1 - b.oaDamper : 1)],
  ['AO', 'ea_damper', 'Exhaust air damper', 'percent', b => b.oaDamper],
  ['AO', 'clg_valve', 'Cooling valve', 'percent', b => b.clgValve],
  ['AO', 'htg_valve', 'Heating valve', 'percent', b => b.htgValve],
  ['BV', 'occ', 'Occupied', 'bool', b => Number(b.occupied)],
])

const exhaustFan = bacnetPoints(
  { device_id: 'ahu-1', equipment_id: 'EF-1' },
  [
    ['BO', 'fan_cmd', 'Exhaust fan command', 'bool', b => Number(b.exhaustFan)],
    ['BI', 'fan_status', 'Exhaust fan status', 'bool', b => Number(b.exhaustRuns)],
  ],
  11,
)

const boxes = ZONES.flatMap(({ equipment_id, flowMin, flowMax }, i) => {
  const owner: Owner = { device_id: equipment_id.toLowerCase(), equipment_id }
  const zone = (read: (zone: Zone) => number) => (b: Building) => read(b.zones[i]!)
  return bacnetPoints(owner, [
    ['AI', 'zone_t', 'Zone temperature', 'degF', zone(z => z.t)],
    ['AV', 'zone_t_sp_cool', 'Zone cooling set point', 'degF', zone(z => z.csp)],
    ['AV', 'zone_t_sp_heat', 'Zone heating set point', 'degF', zone(z => z.hsp)],
    ['AI', 'zone_flow', 'Air flow', 'cfm', zone(z => z.flowSeen)],
    ['AV', 'zone_flow_sp', 'Air flow set point', 'cfm', zone(z => z.flowSp)],
    ['AV', 'zone_flow_min', 'Air flow minimum', 'cfm', () => flowMin],
    ['AV', 'zone_flow_max', 'Air flow maximum', 'cfm', () => flowMax],
    ['AO', 'damper', 'Damper', 'percent', zone(z => z.damper)],
    ['AO', 'reheat_valve', 'Reheat valve', 'percent', zone(z => z.reheat)],
    ['AI', 'discharge_t', 'Discharge air temperature', 'degF', zone(z => z.discharge)],
  ])
})

type Register = [key: string, name: string, unit: string, register: SimRegister['kind'], read: SimPoint['read'], scale?: number]

/** Registers one after the other from 0, in one table each for bits and words. */
function modbusPoints(owner: Owner, rows: Register[]): SimPoint[] {
  const next = { holding: 0, discrete: 0 }
  return rows.map(([key, name, unit, register, read, scale]) => {
    const table = register === 'bit' ? ('discrete' as const) : ('holding' as const)
    const at: ModbusAt = { bus: 'modbus', table, address: next[table], register, ...(scale === undefined ? {} : { scale }) }
    next[table] += register === 'bit' || register.endsWith('16') ? 1 : 2
    return point(owner, at, key, name, unit, read)
  })
}

const chiller = modbusPoints({ device_id: 'chiller-1', equipment_id: 'CH-1' }, [
  ['chw_supply_t', 'Chilled water supply temperature', 'degF', 'int16', b => b.chwSupply, 0.1],
  ['chw_return_t', 'Chilled water return temperature', 'degF', 'int16', b => b.chwReturn, 0.1],
  ['chw_supply_t_sp', 'Chilled water supply set point', 'degF', 'int16', () => setPoints.chw, 0.1],
  ['cw_supply_t', 'Condenser water entering temperature', 'degF', 'int16', () => condenserIn, 0.1],
  ['cw_return_t', 'Condenser water leaving temperature', 'degF', 'int16', b => b.cwReturn, 0.1],
  ['chw_flow', 'Chilled water flow', 'L/s', 'float32', b => b.chwFlow / 1000],
  ['kw', 'Chiller power', 'kW', 'float32', b => b.chillerKw],
  ['chiller_cmd', 'Chiller command', 'bool', 'bit', b => Number(b.chiller)],
  ['chiller_status', 'Chiller status', 'bool', 'bit', b => Number(b.chiller)],
])

const meter = modbusPoints({ device_id: 'meter-1', equipment_id: 'MTR-1' }, [
  ['kw', 'Building power', 'kW', 'float32', b => b.kw],
  ['kwh', 'Building energy', 'kWh', 'uint32', b => b.kwh],
  ['frequency', 'Line frequency', 'Hz', 'float32', () => 60],
])

const SENSOR_FAULTS: Record<string, Pick<SimPoint, 'silencedBy' | 'deadIn'>> = {
  'VAV-104.zone_t': { silencedBy: 'zone_sensor_silent' },
  'VAV-102.zone_flow': { deadIn: 'vav_flow_dead' },
}

export const POINTS: readonly SimPoint[] = [...airHandler, ...exhaustFan, ...boxes, ...chiller, ...meter].map(one => ({
  ...one,
  ...SENSOR_FAULTS[one.point_id],
}))

/** @returns the point's value without noise, in its own unit */
export function valueOf({ role, unit, read }: SimPoint, building: Building): number {
  const canonical = role === undefined ? unit : ROLES[role]!.unit
  const { scale, offset } = conversion(canonical, unit)!
  return read(building) * scale + offset
}
