import type { Building, Equipment } from '#shared/core/model.ts'
import { TIMEZONE } from './building.ts'
import { ZONES } from './physics.ts'
import { POINTS, type SimPoint } from './points.ts'
import { DEVICES } from './site.ts'

export const SITE_ID = 'lakeside'
export const BUILDING: Building = {
  building_id: 'lakeside-office',
  name: 'Lakeside Office',
  site_id: SITE_ID,
  timezone: TIMEZONE,
  unit_system: 'us',
  lat: 41.88,
  lon: -87.62,
}

const BOXES = ZONES.map(({ equipment_id }) => equipment_id)
const of = (equipment_id: string, name: string, equipment_type: Equipment['equipment_type']): Equipment => ({
  equipment_id,
  building_id: BUILDING.building_id,
  name,
  equipment_type,
})

export const EQUIPMENT: readonly Equipment[] = [
  { ...of('AHU-1', 'Air handler 1', 'ahu'), feeds: BOXES },
  ...BOXES.map(id => ({ ...of(id, `Box ${id.slice(4)}`, 'vav'), parent_id: 'AHU-1' })),
  of('EF-1', 'Toilet exhaust fan', 'fan'),
  of('CH-1', 'Chiller 1', 'chiller'),
  of('MTR-1', 'Building meter', 'meter'),
]

/** Every point is read once a minute. */
const POLL_SECS = 60
/** On loopback an answer takes a millisecond; a dead device must not hold up the demonstration. */
const TIMEOUT_MS = 2000
const OBJECT_NAMES = {
  AI: 'analog-input',
  AO: 'analog-output',
  AV: 'analog-value',
  BI: 'binary-input',
  BO: 'binary-output',
  BV: 'binary-value',
  MI: 'multi-state-input',
  MO: 'multi-state-output',
  MV: 'multi-state-value',
} as const

/** What the appliance is told of the site whose devices listen from `firstPort` on (contract §10). */
export function siteCatalogue(firstPort: number) {
  const devices = DEVICES.map(device => {
    const { device_id, name, bus: protocol } = device
    const port = firstPort + device.port
    const points = POINTS.filter(point => point.device_id === device_id).map(cataloguePoint)
    const common = { device_id, name, enabled: true, timeout_ms: TIMEOUT_MS, retries: 1, concurrency: 1, points }
    const host = '127.0.0.1'
    return device.bus === 'bacnet'
      ? { ...common, protocol, bacnet: { device_instance: device.device_instance, host, port, max_apdu: 1476 } }
      : { ...common, protocol, modbus: { host, port, unit_id: device.unit_id, word_order: 'ABCD' as const } }
  })
  return { fieldDevices: { devices }, site: { building: BUILDING, equipment: [...EQUIPMENT] } }
}

function cataloguePoint({ point_id, equipment_id, name, unit, kind, role, at }: SimPoint) {
  const scale = at.bus === 'modbus' && at.scale !== undefined ? { scale: at.scale } : {}
  const common = { point_id, address: addressOf(at), name, unit, kind, poll_secs: POLL_SECS, equipment_id, ...scale }
  return { ...common, ...(role === undefined ? {} : { role }), priority_history: at.bus === 'bacnet' && at.object.endsWith('O') }
}

function addressOf(at: SimPoint['at']): string {
  if (at.bus === 'bacnet') return `${OBJECT_NAMES[at.object]},${at.instance}`
  return at.register === 'bit' ? `${at.table}:${at.address}` : `${at.table}:${at.address}:${at.register}`
}
