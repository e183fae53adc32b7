/** What becomes of the catalogue when devices are added: what is there stays, what is new stands behind it. */
import test from 'ava'
import { compareWithCatalogue } from '#appliance/drivers/bacnet/core/discovery/changes.ts'
import { noteIAm } from '#appliance/drivers/bacnet/core/discovery/heard-devices.ts'
import {
  type DeviceResult,
  DISCOVERY_DEFAULTS,
  type FoundObject,
  createDiscovery,
} from '#appliance/drivers/bacnet/core/discovery/discovery.ts'
import type { Station } from '#appliance/drivers/bacnet/core/frame.ts'
import { iAm } from '#scripts/simulator/bacnet/device.ts'
import { planAdditions, withAdditions } from '#appliance/drivers/bacnet/discovery/additions.ts'
import type { DeviceCatalogue, DeviceEntry } from '#appliance/store/catalogue-schema.ts'

type Place = { instance: number; host: string; station?: Station; objects?: FoundObject[]; name?: string }

/** Devices as their I-Ams make them, with what a scan would have read. */
function heard(...places: Place[]) {
  const discovery = createDiscovery('j', DISCOVERY_DEFAULTS, 0)
  for (const {
    instance,
    host,
    station,
    objects = [{ type: 0, instance: 1, name: 'T', units: 62 }],
    name = `D${instance}`,
  } of places) {
    const payload = iAm(instance, 1476).subarray(2)
    const device = noteIAm(discovery, { host, port: 47_808, service: 0, payload, ...(station && { station }) })
    if (device) Object.assign(device, { outcome: 'found', name, objects } satisfies Partial<DeviceResult>)
  }
  return discovery
}

const entry = (device_id: string, device_instance: number, host: string, more: Partial<DeviceEntry> = {}): DeviceEntry => ({
  device_id,
  name: `named by hand ${device_id}`,
  enabled: true,
  protocol: 'bacnet',
  bacnet: { device_instance, host, rpm_max: 10 },
  timeout_ms: 900,
  points: [
    {
      point_id: 'own.id',
      address: 'analog-input,1/present-value',
      name: 'Own',
      unit: 'degF',
      kind: 'number',
      poll_secs: 5,
      role: 'sa_t',
    },
  ],
  ...more,
})

function add(catalogue: DeviceCatalogue, discovery: ReturnType<typeof heard>, only = '') {
  const { devices, request } = discovery
  const changes = compareWithCatalogue(request, devices, catalogue.devices)
  const keys = devices.map(({ key }) => key)
  const planned = planAdditions(catalogue, devices, changes, { keys, poll_secs: 60, only })
  return { ...planned, after: withAdditions(catalogue, planned.additions) }
}

test('a new device stands behind those that are there', t => {
  const catalogue = { devices: [entry('a', 1, '10.0.0.1')] }
  const { after, additions } = add(catalogue, heard({ instance: 2, host: '10.0.0.2' }))
  t.is(after.devices[0], catalogue.devices[0])
  t.like(after.devices[1], { device_id: 'D2', bacnet: { device_instance: 2, host: '10.0.0.2', port: 47_808, max_apdu: 1476 } })
  t.deepEqual(additions[0]!.new_points, ['D2.T'])
})

test('a device that is there keeps its points and gets only the objects that it does not read yet', t => {
  const objects = [1, 2].map(instance => ({ type: 0, instance, name: `T ${instance}`, units: 62 }))
  const { after, additions } = add({ devices: [entry('a', 1, '10.0.0.1')] }, heard({ instance: 1, host: '10.0.0.1', objects }))
  const [device] = after.devices
  t.like(device, { device_id: 'a', name: 'named by hand a', timeout_ms: 900 })
  t.deepEqual(
    device!.points.map(({ point_id }) => point_id),
    ['own.id', 'a.T-2'],
  )
  t.deepEqual(additions[0]!.new_points, ['a.T-2'])
  t.is(device!.points[0]!.role, 'sa_t')
})

test('of a new device only the points that fit are taken, and none at all of one that has none', t => {
  const objects = ['Supply temp', 'Return temp', 'Spare temp'].map((name, i) => ({ type: 0, instance: i + 1, name, units: 62 }))
  const found = heard({ instance: 1, host: '10.0.0.1', objects }, { instance: 2, host: '10.0.0.2', objects: [objects[2]!] })
  const { additions, after, errors } = add({ devices: [] }, found, 'temp -spare')
  t.deepEqual(errors, [])
  t.deepEqual(
    additions.map(({ new_points, entry }) => [new_points, entry.points.length]),
    [[['D1.Supply-temp', 'D1.Return-temp'], 2]],
  )
  t.is(after.devices.length, 1)
})

test('of a device that is there points that do not fit stay unread, and what is read stays', t => {
  const objects = [1, 2, 3].map(instance => ({ type: 0, instance, name: `T ${instance}`, units: 62 }))
  const found = heard({ instance: 1, host: '10.0.0.1', objects })
  const { after, additions } = add({ devices: [entry('a', 1, '10.0.0.1')] }, found, 'ai-3')
  t.deepEqual(additions[0]!.new_points, ['a.T-3'])
  t.deepEqual(
    after.devices[0]!.points.map(({ point_id }) => point_id),
    ['own.id', 'a.T-3'],
  )
  const moved = add({ devices: [entry('a', 1, '10.0.0.9')] }, found, 'nothing')
  t.deepEqual([moved.additions[0]!.new_points, moved.after.devices[0]!.bacnet!.host], [[], '10.0.0.1'])
})

test('a device that has moved keeps everything but its place', t => {
  const station = { network: 2001, mac: Uint8Array.of(3) }
  const { after } = add({ devices: [entry('a', 1, '10.0.0.1')] }, heard({ instance: 1, host: '10.0.0.9', station }))
  t.deepEqual(after.devices[0]!.bacnet, {
    device_instance: 1,
    host: '10.0.0.9',
    port: 47_808,
    network: 2001,
    mac: '03',
    rpm_max: 10,
  })
  t.is(after.devices[0]!.points.length, 1)
  const back = add(after, heard({ instance: 1, host: '10.0.0.1' }))
  t.deepEqual(back.after.devices[0]!.bacnet, { device_instance: 1, host: '10.0.0.1', port: 47_808, rpm_max: 10 })
})

test('a device with another instance at its place gets that instance', t => {
  const { after, additions } = add({ devices: [entry('a', 1, '10.0.0.1')] }, heard({ instance: 5, host: '10.0.0.1' }))
  t.is(additions[0]!.change, 'id_changed')
  t.is(after.devices.length, 1)
  t.is(after.devices[0]!.bacnet!.device_instance, 5)
})

test('what cannot be added says why, and nothing else is held up by the words', t => {
  const twins = heard(
    { instance: 7, host: '10.0.0.1' },
    { instance: 7, host: '10.0.0.2' },
    { instance: 8, host: '10.0.0.3', objects: [] },
  )
  const { additions, errors } = add({ devices: [] }, twins)
  t.deepEqual(additions, [])
  t.deepEqual(
    errors.map(({ pointer, message }) => [pointer, message]),
    [
      ['/devices/0', 'device 7 answers from 2 places; give all but one of them another instance first'],
      ['/devices/1', 'device 7 answers from 2 places; give all but one of them another instance first'],
      ['/devices/2', 'device 8 gave no points: found'],
    ],
  )
})

test('an entry goes to one device, not to whoever is chosen last', t => {
  const found = heard({ instance: 5, host: '10.0.0.1' }, { instance: 6, host: '10.0.0.1' })
  const { errors } = add({ devices: [entry('a', 1, '10.0.0.1')] }, found)
  t.deepEqual(errors, [{ pointer: '/devices/1', message: '5@10.0.0.1:47808 would use the entry a too; choose one of them' }])
})

test('two devices of one name, and one whose name the list has, are told apart by their instances', t => {
  const same = [1, 2, 3].map(instance => ({
    instance,
    host: `10.0.0.${instance}`,
    name: instance === 3 ? 'Taken' : 'Controller',
  }))
  const { after } = add({ devices: [entry('Taken', 900, '10.0.1.1', { enabled: false })] }, heard(...same))
  t.deepEqual(
    after.devices.map(({ device_id }) => device_id),
    ['Taken', 'Controller-1', 'Controller-2', 'Taken-3'],
  )
})

test('a device that a router between IP networks tells again is one device, not a conflict', t => {
  const mac = Uint8Array.of(10, 0, 0, 7, 0xba, 0xc0)
  const routed = { instance: 7, host: '10.0.1.1', station: { network: 12, mac } }
  for (const places of [
    [{ instance: 7, host: '10.0.0.7' }, routed],
    [routed, { instance: 7, host: '10.0.0.7' }],
    [routed, { ...routed, host: '10.0.2.1' }],
  ]) {
    const { devices, ignored, i_ams } = heard(...places)
    t.is(devices.length, 1)
    t.deepEqual(i_ams, { heard: 2, taken: 1, repeated: 0 })
    t.like(ignored[0], { why: 'second_way', device_instance: 7 })
  }
})

test('an I-Am with an address that no network has is malformed, not a device', t => {
  const { devices, ignored } = heard({ instance: 7, host: '10.0.0.7', station: { network: 12, mac: new Uint8Array(8) } })
  t.deepEqual(devices, [])
  t.like(ignored[0], { why: 'malformed', reason: 'its address behind the router has 8 bytes' })
})
