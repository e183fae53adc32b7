import { openBacnetDevice } from '../../simulator/bacnet/device.ts'
import { OBJECT_TYPES } from '../../simulator/bacnet/objects.ts'
import { openModbusDevice } from '../../simulator/modbus/device.ts'

/** 19 BACnet devices and one Modbus device, 50 points each: 1,000 points of 50 boxes' size. */
const DEVICES = 20
const POINTS_EACH = 50
export const POINT_COUNT = DEVICES * POINTS_EACH
/** Every point once in ten seconds: 6,000 readings a minute, six times what the demonstration's minute asks. */
const POLL_SECS = 10

/** Opens the devices on free ports. @returns the appliance's lists for them */
export async function openPoints(poll_secs = POLL_SECS) {
  const open: { close(): Promise<void> }[] = []
  const devices: object[] = []
  for (let d = 0; d < DEVICES; d++) {
    const device_id = `device-${d}`
    const wave = (i: number) => () => 20 + 5 * Math.sin(Date.now() / 60_000 + d + i)
    const common = { device_id, name: `Device ${d}`, enabled: true }
    if (d === DEVICES - 1) {
      const registers = range(i => ({ table: 'holding' as const, address: 2 * i, kind: 'float32' as const, value: wave(i) }))
      const device = await openModbusDevice({ registers })
      open.push(device)
      const points = range(i => entry(device_id, i, { address: `holding:${2 * i}:float32`, poll_secs }))
      devices.push({ ...common, protocol: 'modbus', modbus: { host: device.host, port: device.port, unit_id: 1 }, points })
    } else {
      const objects = range(i => ({ type: OBJECT_TYPES.AI, instance: i, name: `Point ${i}`, unit: 'degC', value: wave(i) }))
      const device = await openBacnetDevice({ device_instance: 1000 + d, name: `Device ${d}`, objects })
      open.push(device)
      const points = range(i => entry(device_id, i, { address: `analog-input,${i}`, poll_secs }))
      const bacnet = { device_instance: 1000 + d, host: device.host, port: device.port, max_apdu: 1476 }
      devices.push({ ...common, protocol: 'bacnet', bacnet, points })
    }
  }
  const equipment = range(d => ({ equipment_id: `VAV-${d}`, name: `Box ${d}`, equipment_type: 'vav' }), DEVICES)
  const building = { building_id: 'bench', name: 'Bench', timezone: 'UTC', unit_system: 'si' }
  return {
    fieldDevices: { devices },
    site: { site_id: 'bench', edge_id: 'bench', building, equipment },
    close: () => Promise.all(open.map(device => device.close())),
  }
}

/** Five roles that rules read, ten of each, so that the rules have work as well. */
const ROLES = ['zone_t', 'zone_t_sp_cool', 'discharge_t', 'zone_t_sp_heat', 'zone_t_sp']

function entry(device_id: string, i: number, polled: { address: string; poll_secs: number }) {
  const equipment_id = `VAV-${device_id.slice('device-'.length)}`
  const role = i < ROLES.length ? { role: ROLES[i], equipment_id } : {}
  const point_id = `${device_id}.${i}`
  return { point_id, name: `Point ${i}`, unit: 'degC', kind: 'number', ...polled, ...role }
}

const range = <T>(make: (i: number) => T, count = POINTS_EACH): T[] => Array.from({ length: count }, (_, i) => make(i))
