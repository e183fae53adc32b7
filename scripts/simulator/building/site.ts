import type { Clock } from '#shared/core/ports.ts'
import { openBacnetDevice } from '../bacnet/device.ts'
import { OBJECT_TYPES, type SimObject } from '../bacnet/objects.ts'
import { openSimulation, SITE_START, type Simulation } from './building.ts'
import type { ScheduledFault } from './faults.ts'
import { openModbusDevice, type SimRegister } from '../modbus/device.ts'
import { commandsOf } from './overrides.ts'
import { POINTS, type SimPoint } from './points.ts'

/** The devices of the site; `port` counts from the first port that the site was given. */
export const DEVICES = [
  { device_id: 'ahu-1', name: 'Air handler 1 controller', bus: 'bacnet', device_instance: 1001, port: 0 },
  { device_id: 'vav-101', name: 'VAV 101 controller', bus: 'bacnet', device_instance: 1101, port: 1 },
  { device_id: 'vav-102', name: 'VAV 102 controller', bus: 'bacnet', device_instance: 1102, port: 2 },
  { device_id: 'vav-103', name: 'VAV 103 controller', bus: 'bacnet', device_instance: 1103, port: 3 },
  { device_id: 'vav-104', name: 'VAV 104 controller', bus: 'bacnet', device_instance: 1104, port: 4 },
  { device_id: 'chiller-1', name: 'Chiller 1 panel', bus: 'modbus', unit_id: 1, port: 5 },
  { device_id: 'meter-1', name: 'Building meter', bus: 'modbus', unit_id: 3, port: 6 },
] as const

/** Answer of a point of a silenced sensor: property, unknown-property (135-2020 clause 18.3). */
const SENSOR_GONE = { errorClass: 2, errorCode: 32 }

type Site = { simulation: Simulation; close(): Promise<void> }

/**
 * Opens every device of the site on loopback, from `firstPort` on.
 *
 * @throws Error naming the address when one is taken; nothing stays open then
 */
export async function openSite(clock: Clock, firstPort: number, script?: readonly ScheduledFault[]): Promise<Site> {
  const simulation = openSimulation(script)
  const open: { close(): Promise<void> }[] = []
  const close = async () => {
    await Promise.all(open.map(device => device.close()))
  }
  try {
    for (const device of DEVICES) {
      const points = POINTS.filter(({ device_id }) => device_id === device.device_id)
      const port = firstPort + device.port
      const { name } = device
      if (device.bus === 'modbus') {
        const registers = points.map(point => registerOf(point, simulation, clock))
        open.push(await openModbusDevice({ registers, port, unit_id: device.unit_id }))
      } else {
        const objects = points.map(point => objectOf(point, simulation, clock))
        open.push(await openBacnetDevice({ device_instance: device.device_instance, name, objects, port }))
      }
    }
  } catch (error) {
    await close()
    throw error
  }
  return { simulation, close }
}

function objectOf(point: SimPoint, simulation: Simulation, clock: Clock): SimObject {
  if (point.at.bus !== 'bacnet') throw new TypeError(`${point.point_id} is not on BACnet`)
  const { silencedBy } = point
  const value = () => simulation.read(point, clock.now())
  const commands = commandsOf(point, value, () => clock.now() - SITE_START)
  return {
    type: OBJECT_TYPES[point.at.object],
    instance: point.at.instance,
    name: point.name,
    unit: point.unit,
    value,
    ...(commands && { commands }),
    ...(silencedBy && { error: () => (simulation.faults(clock.now()).has(silencedBy) ? SENSOR_GONE : undefined) }),
  }
}

function registerOf(point: SimPoint, simulation: Simulation, clock: Clock): SimRegister {
  if (point.at.bus !== 'modbus') throw new TypeError(`${point.point_id} is not on Modbus`)
  const { table, address, register, scale = 1 } = point.at
  return { table, address, kind: register, value: () => simulation.read(point, clock.now()) / scale }
}
