import { TIMEZONE } from './building.ts'
import { ZONES } from './physics.ts'
import { POINTS, type SimPoint } from './points.ts'
import { DEVICES } from './site.ts'

export const SITE_ID = 'lakeside'
export const EDGE_ID = 'plant-room'
export const BUILDING_ID = 'lakeside-office'

const BOXES = ZONES.map(({ equipment_id }) => equipment_id)
const SITE = {
  site_id: SITE_ID,
  edge_id: EDGE_ID,
  building: {
    building_id: BUILDING_ID,
    name: 'Lakeside Office',
    timezone: TIMEZONE,
    unit_system: 'us',
    lat: 41.88,
    lon: -87.62,
  },
  equipment: [
    { equipment_id: 'AHU-1', name: 'Air handler 1', equipment_type: 'ahu', feeds: BOXES },
    ...BOXES.map(equipment_id => ({
      equipment_id,
      name: `Box ${equipment_id.slice(4)}`,
      equipment_type: 'vav',
      parent_id: 'AHU-1',
    })),
    { equipment_id: 'EF-1', name: 'Toilet exhaust fan', equipment_type: 'fan' },
    { equipment_id: 'CH-1', name: 'Chiller 1', equipment_type: 'chiller' },
    { equipment_id: 'MTR-1', name: 'Building meter', equipment_type: 'meter' },
  ],
} as const

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

/** The appliance's `config/field-devices.json` and `config/site.json` for a site whose devices listen from `firstPort` on. */
export function siteCatalogue(firstPort: number) {
  const devices = DEVICES.map(device => {
    const { device_id, name, bus: protocol } = device
    const port = firstPort + device.port
    const points = POINTS.filter(point => point.device_id === device_id).map(cataloguePoint)
    const common = { device_id, name, enabled: true, timeout_ms: TIMEOUT_MS, retries: 1, points }
    const host = '127.0.0.1'
    return device.bus === 'bacnet'
      ? { ...common, protocol, bacnet: { device_instance: device.device_instance, host, port, max_apdu: 1476 } }
      : { ...common, protocol, modbus: { host, port, unit_id: device.unit_id, word_order: 'ABCD' as const } }
  })
  return { fieldDevices: { devices }, site: SITE }
}

function cataloguePoint({ point_id, equipment_id, name, unit, kind, role, at }: SimPoint) {
  const scale = at.bus === 'modbus' && at.scale !== undefined ? { scale: at.scale } : {}
  const common = { point_id, address: addressOf(at), name, unit, kind, poll_secs: POLL_SECS, equipment_id, ...scale }
  return role === undefined ? common : { ...common, role }
}

function addressOf(at: SimPoint['at']): string {
  if (at.bus === 'bacnet') return `${OBJECT_NAMES[at.object]},${at.instance}`
  return at.register === 'bit' ? `${at.table}:${at.address}` : `${at.table}:${at.address}:${at.register}`
}
