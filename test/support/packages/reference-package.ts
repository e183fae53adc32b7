/**
 * Packages as the reference platform writes them: its own point names as keys of the map, a `columns.csv` beside each table, a
 * `quality.json`, and three days at 5 min. One fault of one hour is put into one equipment.
 */
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import type { Files } from './packages.ts'

export const START = Date.UTC(2026, 0, 12) // a Monday
const DAYS = 3
const STEP = 5 * MINUTE
/** The fault: the third day, one hour from 11:00 UTC. */
export const FAULT_FROM = START + 2 * DAY + 11 * HOUR
export const FAULT_TO = FAULT_FROM + HOUR

/** By column header: the reference name, the unit and the values of a healthy day. `h` is the hour of the building day. */
type Signal = { name: string; unit: string; at: (h: number, i: number) => number | string }
type Unit = Record<string, Signal>

const isOccupied = (h: number) => h >= 7 && h < 18
/** A small movement that never repeats within an hour, so that no healthy sensor stands still. */
const ripple = (i: number, size: number) => Math.round(size * Math.sin(i * 0.7) * 100) / 100
const outdoor = (h: number) => 41 + 4 * Math.sin(((h - 9) * Math.PI) / 12)

const airHandler = (): Unit => ({
  discharge_air_temp_f: { name: 'discharge-air-temp', unit: 'F', at: (h, i) => (isOccupied(h) ? 55 : 66) + ripple(i, 0.3) },
  discharge_air_temp_sp_f: { name: 'discharge-air-temp-sp', unit: 'F', at: () => 55 },
  mixed_air_temp_f: { name: 'mixed-air-temp', unit: 'F', at: (h, i) => (isOccupied(h) ? 55 : 66) + ripple(i + 1, 0.3) },
  return_air_temp_f: { name: 'return-air-temp', unit: 'F', at: (_h, i) => 71 + ripple(i, 0.4) },
  outside_air_temp_f: { name: 'outside-air-temp', unit: 'F', at: (h, i) => outdoor(h) + ripple(i, 0.2) },
  outside_air_humidity: { name: 'outside-air-humidity', unit: '%', at: (_h, i) => 60 + ripple(i, 3) },
  outside_air_damper: {
    name: 'outside-air-damper',
    unit: '0-1',
    at: (h, i) => (isOccupied(h) ? (71 - 55) / (71 - outdoor(h)) + ripple(i, 0.01) : 0),
  },
  cooling_valve: { name: 'cooling-valve', unit: '0-1', at: () => 0 },
  heating_valve: { name: 'heating-valve', unit: '0-1', at: () => 0 },
  fan_cmd: { name: 'fan-cmd', unit: '0-1', at: (h, i) => (isOccupied(h) ? 0.62 + ripple(i, 0.03) : 0) },
  fan_status: { name: 'fan-status', unit: '', at: h => (isOccupied(h) ? 1 : 0) },
  duct_static: { name: 'duct-static-pressure', unit: 'inH2O', at: (h, i) => (isOccupied(h) ? 1.2 + ripple(i, 0.04) : 0) },
  duct_static_sp: { name: 'duct-static-pressure-sp', unit: 'inH2O', at: () => 1.2 },
  occupied: { name: 'occupied', unit: '', at: h => (isOccupied(h) ? 'occupied' : 'unoccupied') },
  loop_enabled: { name: 'loop-enabled', unit: '', at: h => (isOccupied(h) ? 1 : 0) },
})

const box = (): Unit => ({
  zone_air_temp_f: { name: 'zone-air-temp', unit: 'F', at: (h, i) => (isOccupied(h) ? 71.5 : 68) + ripple(i, 0.4) },
  zone_airflow: { name: 'zone-airflow', unit: 'cfm', at: (h, i) => (isOccupied(h) ? 450 + ripple(i, 20) : 0) },
  min_flow_sp: { name: 'min-flow-sp', unit: 'cfm', at: () => 200 },
  damper: { name: 'damper', unit: '0-1', at: (h, i) => (isOccupied(h) ? 0.45 + ripple(i, 0.02) : 0) },
  reheat_valve: { name: 'reheat-valve', unit: '0-1', at: () => 0 },
  vav_discharge_air_temp_f: { name: 'vav-discharge-air-temp', unit: 'F', at: (_h, i) => 56.5 + ripple(i, 0.4) },
  fan_status: { name: 'fan-status', unit: '', at: h => (isOccupied(h) ? 1 : 0) },
  occupied: { name: 'occupied', unit: '', at: h => (isOccupied(h) ? 1 : 0) },
})

type ReferenceCase = {
  what: string
  equipment_id: string
  equipType: string
  /** The rule that looks for it. */
  rule_id: string
  /** Columns of the hour of the fault. */
  fault: Record<string, (i: number) => number | string>
}

export const CASES: ReferenceCase[] = [
  {
    what: 'a flat sensor',
    equipment_id: 'AHU_CASE_1',
    equipType: 'ahu',
    rule_id: 'SEN-FLAT',
    fault: { return_air_temp_f: () => 71.13 },
  },
  {
    what: 'a hunting damper',
    equipment_id: 'AHU_CASE_2',
    equipType: 'ahu',
    rule_id: 'AHU-HUNT-DAMPER',
    fault: { outside_air_damper: i => (i % 2 === 0 ? 0.15 : 0.95) },
  },
  {
    what: 'static pressure low at full fan',
    equipment_id: 'AHU_CASE_3',
    equipType: 'ahu',
    rule_id: 'AHU-FC1-STATIC-LOW',
    fault: { duct_static: i => 0.4 + ripple(i, 0.02), fan_cmd: () => 1 },
  },
  {
    what: 'mechanical cooling in cool weather',
    equipment_id: 'AHU_CASE_4',
    equipType: 'ahu',
    rule_id: 'AHU-MECH-COOL-COLD',
    fault: { cooling_valve: i => 0.6 + ripple(i, 0.02), outside_air_damper: i => 0.2 + ripple(i, 0.01) },
  },
  {
    what: 'a zone out of its band',
    equipment_id: 'VAV_CASE_5',
    equipType: 'vav',
    rule_id: 'ZONE-COMFORT',
    fault: { zone_air_temp_f: i => 85 + ripple(i, 0.4) },
  },
  {
    what: 'a run while nobody is there',
    equipment_id: 'AHU_CASE_6',
    equipType: 'ahu',
    rule_id: 'AHU-UNOCCUPIED-RUN',
    fault: { occupied: () => 'unoccupied' },
  },
]

const unitOf = ({ equipType }: ReferenceCase): Unit => (equipType === 'vav' ? box() : airHandler())

/** @param more files that take the place of those of the case, by path below the equipment's folder */
export function referencePackage(one: ReferenceCase, building_id: string, more: Files = {}): Files {
  const unit = unitOf(one)
  const headers = Object.keys(unit)
  const lines = Array.from({ length: (DAYS * DAY) / STEP }, (_, i) => {
    const t = START + i * STEP
    const h = ((t - START) % DAY) / HOUR
    const isFault = t >= FAULT_FROM && t < FAULT_TO
    const cells = headers.map(header => ((isFault && one.fault[header]) || ((n: number) => unit[header]!.at(h, n)))(i))
    return [`${new Date(t).toISOString().slice(0, 19)}Z`, ...cells].join(',')
  })
  const points = Object.fromEntries(headers.map(header => [unit[header]!.name, header]))
  const columns = headers.map(
    header => `${header},${unit[header]!.name},${one.equipment_id} ${unit[header]!.name},${unit[header]!.unit}`,
  )
  const files: Files = {
    'history_wide.csv': `${[['timestamp_utc', ...headers].join(','), ...lines].join('\n')}\n`,
    'column_map.json': JSON.stringify({ equipType: one.equipType, equip: one.equipment_id, points }),
    'columns.csv': `${['column,point_role,point_name,units', ...columns].join('\n')}\n`,
    ...more,
  }
  return {
    'manifest.json': JSON.stringify({ schema_version: 'openfdd_package_v1', building_id, grid_minutes: 5, timezone: 'UTC' }),
    ...Object.fromEntries(Object.entries(files).map(([path, content]) => [`${one.equipment_id}/${path}`, content])),
  }
}
