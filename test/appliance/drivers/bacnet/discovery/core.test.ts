/** What discovery decides, without a network: I-Am, units, proposals, comparison, traffic. */
import { createRequire } from 'node:module'
import test from 'ava'
import fc from 'fast-check'
import { compareWithCatalogue, type KnownDevice } from '#appliance/drivers/bacnet/core/discovery/changes.ts'
import { proposeAll } from '#appliance/drivers/bacnet/core/discovery/propose.ts'
import { estimateTraffic } from '#appliance/drivers/bacnet/core/discovery/traffic.ts'
import {
  deviceKey,
  type DeviceResult,
  DISCOVERY_DEFAULTS,
  type FoundObject,
} from '#appliance/drivers/bacnet/core/discovery/discovery.ts'
import { engineeringUnit } from '#appliance/core/catalogue/engineering-units.ts'
import { readIAm } from '#appliance/drivers/bacnet/core/i-am.ts'
import { parseTarget } from '#shared/core/bacnet/object.ts'
import { POINT_TYPES, sortEntries } from '#appliance/drivers/bacnet/core/device-scan.ts'
import { ID_REGEXP } from '#shared/core/model/model.ts'
import { UNITS } from '#shared/core/model/unit.ts'
import { hex } from '../../../../support/wire.ts'

const device = (device_instance: number, host: string, more: Partial<DeviceResult> = {}): DeviceResult => {
  const at = { device_instance, host, port: 47_808, ...more }
  return {
    ...{ max_apdu: 1476, segmentation: 'none', vendor_id: 5, outcome: 'found', reason: null, name: `Device ${device_instance}` },
    ...{ vendor: null, model: null, multiple: true, batch_size: 92, listed: 1, objects: [], others: {}, requests: 1 },
    ...at,
    key: deviceKey(at),
  } as DeviceResult
}
const input = (instance: number, more: Partial<FoundObject> = {}): FoundObject => ({ type: 0, instance, ...more })

for (const [name, bytes, wanted] of [
  [
    'a whole one',
    'c4020003e9 2205c4 9103 2203e7',
    { device_instance: 1001, max_apdu: 1476, segmentation: 'none', vendor_id: 999 },
  ],
  ['one that segments', 'c4020003e9 2132 9100 2100', { device_instance: 1001, max_apdu: 50, segmentation: 'both', vendor_id: 0 }],
  ['one of another object', 'c4000003e9 2205c4 9103 2101', 'it names no device object'],
  ['one of the wildcard', 'c4023fffff 2205c4 9103 2101', 'its instance is the wildcard'],
  ['one without an APDU', 'c4020003e9 2131 9103 2101', 'its largest APDU is below 50 bytes'],
  ['one with a fifth segmentation', 'c4020003e9 2205c4 9104 2101', 'its segmentation is none of the four'],
  ['one of too large a vendor', 'c4020003e9 2205c4 9103 23010000', 'its vendor is no number up to 65535'],
  ['one with more behind it', 'c4020003e9 2205c4 9103 2101 00', 'bytes are left over'],
  ['one that ends too early', 'c4020003e9 2205c4', 'it is malformed: ends too early'],
  ['one whose length runs out', 'c4020003e9 2505c4', 'it is malformed: a length runs past the end'],
] as const) {
  test(`an I-Am: ${name}`, t => t.deepEqual(readIAm(hex(bytes)), wanted as never))
}

test('no bytes make the I-Am reader throw, and what it takes is within its bounds', t => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 24 }), bytes => {
      const said = readIAm(bytes)
      return typeof said === 'string' || (said.device_instance <= 4_194_302 && said.max_apdu >= 50 && said.vendor_id <= 65_535)
    }),
    { numRuns: 2000 },
  )
  t.pass()
})

test('engineering units have the names of the standard, and where they have a code it is one of ours', t => {
  const { EngineeringUnits } = createRequire(import.meta.url)('node-bacnet/lib/enum.js') as {
    EngineeringUnits: Record<string, number>
  }
  for (const [name, id] of Object.entries(EngineeringUnits)) {
    if (id > 254) continue
    const found = engineeringUnit(id)
    t.is(found.name, name.toLowerCase().replaceAll('_', '-'))
    if (found.unit !== undefined) t.true(found.unit in UNITS, `${name} ${found.unit}`)
  }
  t.deepEqual(engineeringUnit(47_808), { name: 'units 47808' })
})

for (const [id, wanted] of [
  [62, { name: 'degrees-celsius', unit: 'degC' }],
  [63, { name: 'degrees-kelvin', unit: 'degC', offset: -273.15 }],
  [84, { name: 'cubic-feet-per-minute', unit: 'cfm' }],
  [88, { name: 'liters-per-minute', unit: 'L/s', scale: 1 / 60 }],
  [95, { name: 'no-units', unit: 'count' }],
  [29, { name: 'percent-relative-humidity', unit: 'percent' }],
  [77, { name: 'feet-per-minute' }],
] as const) {
  test(`engineering unit ${id} is ${wanted.name}`, t => t.deepEqual(engineeringUnit(id), wanted as never))
}

test('a proposal has legible ids, kinds, units and state texts, and its role is only a guess', t => {
  const objects: FoundObject[] = [
    input(1, { name: 'SA-T', units: 64 }),
    input(2, { name: 'sat_sp', units: 62 }),
    { type: 4, instance: 1, name: 'Supply Fan', texts: ['Stopped', 'Running'] },
    { type: 19, instance: 3, name: 'Mode', texts: ['Off', 'Heat'] },
    input(3, { name: 'Duct velocity', units: 77 }),
    { type: 40, instance: 0, name: 'Text' },
    input(4),
  ]
  const [proposal] = proposeAll(
    [device(7, '10.0.0.7', { name: 'AHU 1 (roof)', objects })],
    [device(7, '10.0.0.7', { name: 'AHU 1 (roof)', objects, multiple: false })],
    new Set(),
    60,
  )
  const { device: entry, guessed_roles, notes } = proposal!
  t.is(entry.device_id, 'AHU-1-roof')
  t.deepEqual(entry.bacnet, { device_instance: 7, host: '10.0.0.7', port: 47_808, max_apdu: 1476, rpm_max: 1 })
  t.deepEqual(
    entry.points.map(({ point_id, address, unit, kind, states }) => [point_id, address, unit, kind, states]),
    [
      ['AHU-1-roof.SA-T', 'analog-input,1', 'degF', 'number', undefined],
      ['AHU-1-roof.sat_sp', 'analog-input,2', 'degC', 'number', undefined],
      ['AHU-1-roof.Supply-Fan', 'binary-output,1', 'bool', 'bool', ['Stopped', 'Running']],
      ['AHU-1-roof.Mode', 'multi-state-value,3', 'enum', 'enum', ['', 'Off', 'Heat']],
      ['AHU-1-roof.Duct-velocity', 'analog-input,3', 'count', 'number', undefined],
      ['AHU-1-roof.Text', 'characterstring-value,0', 'count', 'string', undefined],
      ['AHU-1-roof.analog-input-4', 'analog-input,4', 'count', 'number', undefined],
    ],
  )
  t.deepEqual(guessed_roles, { 'AHU-1-roof.SA-T': 'sa_t', 'AHU-1-roof.sat_sp': 'sa_t_sp', 'AHU-1-roof.Mode': 'mode' })
  t.false(entry.points.some(point => 'role' in point))
  t.deepEqual(notes, [
    'AHU-1-roof.Duct-velocity: the unit "feet-per-minute" is not supported; the point is kept without one',
    'AHU-1-roof.analog-input-4: the object has no unit',
  ])
})

test('ids are unique, may stand in the catalogue, and do not depend on the order of answers', t => {
  const object = fc.record({
    type: fc.constantFrom(...POINT_TYPES.keys()),
    instance: fc.oneof(fc.nat(2), fc.integer({ min: 0, max: 4_194_302 })),
    name: fc.oneof(
      fc.constantFrom('Temp', 'temp', 'Über-Temp', '…', 'a/b', 'a b', 'analog-input-1', 'temp.analog-input-1'),
      fc.string({ maxLength: 300 }),
    ),
    units: fc.integer({ min: 0, max: 300 }),
  })
  const objects = fc.uniqueArray(object, { maxLength: 20, selector: ({ type, instance }) => `${type}:${instance}` })
  const devices = fc.uniqueArray(
    fc.record({ instance: fc.nat(500), name: fc.constantFrom('Controller', 'VAV 1', '', '*'), objects }),
    { selector: ({ instance }) => instance, maxLength: 8 },
  )
  fc.assert(
    fc.property(devices, told => {
      const found = told.map(one =>
        device(one.instance, `10.0.0.${one.instance % 200}`, { name: one.name, objects: one.objects }),
      )
      const proposals = proposeAll(found, found, new Set(['VAV-1']), 60)
      const ids = proposals.flatMap(({ device: entry }) => entry.points.map(({ point_id }) => point_id))
      const device_ids = proposals.map(({ device: entry }) => entry.device_id)
      t.is(new Set(device_ids).size, device_ids.length)
      for (const id of [...ids, ...device_ids]) t.regex(id, ID_REGEXP)
      t.is(new Set(ids).size, ids.length)
      t.false(device_ids.includes('VAV-1'))
      for (const point of proposals.flatMap(({ device: entry }) => entry.points)) {
        t.true(point.unit in UNITS)
        t.not(typeof parseTarget(point.address), 'string')
      }
      t.deepEqual(proposeAll(found.toReversed(), found.toReversed(), new Set(['VAV-1']), 60), proposals)
    }),
    { numRuns: 100 },
  )
})

const known = (device_id: string, device_instance: number, host: string, more: object = {}): KnownDevice => ({
  device_id,
  enabled: true,
  bacnet: { device_instance, host, ...more },
  points: [{ point_id: `${device_id}.p`, address: 'analog-input,1' }],
})

for (const [name, found, catalogue, wanted] of [
  ['a device that is not in the list is new', [device(1, '10.0.0.1')], [], [['new', 1, null]]],
  ['a device at its place is the same', [device(1, '10.0.0.1')], [known('a', 1, '10.0.0.1')], [['same', 1, 'a']]],
  ['a device that does not answer is missing', [], [known('a', 1, '10.0.0.1')], [['missing', 1, 'a']]],
  ['its instance at another address has moved', [device(1, '10.0.0.9')], [known('a', 1, '10.0.0.1')], [['moved', 1, 'a']]],
  [
    'another instance at its address has another id',
    [device(2, '10.0.0.1')],
    [known('a', 1, '10.0.0.1')],
    [['id_changed', 2, 'a']],
  ],
  [
    'one instance at two addresses is a conflict',
    [device(1, '10.0.0.1'), device(1, '10.0.0.2')],
    [known('a', 1, '10.0.0.1')],
    [
      ['id_conflict', 1, 'a'],
      ['id_conflict', 1, 'a'],
    ],
  ],
  [
    'devices that changed places have moved',
    [device(1, '10.0.0.2'), device(2, '10.0.0.1')],
    [known('a', 1, '10.0.0.1'), known('b', 2, '10.0.0.2')],
    [
      ['moved', 1, 'a'],
      ['moved', 2, 'b'],
    ],
  ],
  [
    'a device that came to the place of one that moved is new',
    [device(2, '10.0.0.1'), device(1, '10.0.0.2')],
    [known('a', 1, '10.0.0.1')],
    [
      ['new', 2, null],
      ['moved', 1, 'a'],
    ],
  ],
  [
    'behind a router the place is network and mac',
    [device(1, '10.0.0.1', { network: 5, mac: '03' }), device(2, '10.0.0.1', { network: 5, mac: '04' })],
    [known('a', 1, '10.0.0.1', { network: 5, mac: '03' })],
    [
      ['same', 1, 'a'],
      ['new', 2, null],
    ],
  ],
  ['a device outside the bounds is not missing', [], [known('a', 9999, '10.0.0.1')], []],
  ['a disabled device is not missing', [], [{ ...known('a', 1, '10.0.0.1'), enabled: false }], []],
] as [string, DeviceResult[], KnownDevice[], unknown[][]][]) {
  test(`compared with the list: ${name}`, t => {
    const changes = compareWithCatalogue({ ...DISCOVERY_DEFAULTS, high: 5000 }, found, catalogue)
    t.deepEqual(
      changes.map(({ change, device_instance, device_id }) => [change, device_instance, device_id]),
      wanted,
    )
  })
}

test('compared with the list: objects that are new, and points whose object is gone, are told of a device that is whole', t => {
  const objects = [input(2), input(3)]
  const whole = compareWithCatalogue(DISCOVERY_DEFAULTS, [device(1, '10.0.0.1', { objects })], [known('a', 1, '10.0.0.1')])
  t.like(whole[0], { new_objects: 2, missing_points: ['a.p'] })
  const broken = compareWithCatalogue(
    DISCOVERY_DEFAULTS,
    [device(1, '10.0.0.1', { objects, outcome: 'partial' })],
    [known('a', 1, '10.0.0.1')],
  )
  t.deepEqual(broken[0]!.missing_points, [])
})

test('traffic counts requests by period and the share of a trunk', t => {
  const points = (count: number, poll_secs: number) =>
    Array.from({ length: count }, (_, i) => ({ address: `analog-input,${i}`, poll_secs }))
  const entry = { device_id: 'a', enabled: true }
  const { requests_per_minute, trunks } = estimateTraffic([
    { ...entry, bacnet: { host: '10.0.0.1', max_apdu: 1476 }, points: [...points(92, 60), ...points(93, 30)] },
    { ...entry, bacnet: { host: '10.0.0.2', network: 5, max_apdu: 480 }, points: points(29, 60) },
    { ...entry, bacnet: { host: '10.0.0.2', network: 5, rpm_max: 1 }, points: points(10, 60) },
    { ...entry, enabled: false, bacnet: { host: '10.0.0.3' }, points: points(10, 1) },
    { ...entry, points: points(10, 1) },
  ])
  t.is(requests_per_minute, 1 + 2 * 2 + 1 + 10)
  const [trunk] = trunks
  t.like(trunk, { network: 5, devices: 2, points: 39, requests_per_minute: 11 })
  // 39 points of 25 bytes and 11 pairs of frames with 64 bytes around them, ten bits a byte, of 60 s at 38,400 bit/s.
  t.is(trunk!.share!.toFixed(5), ((10 * (39 * 25 + 11 * 64)) / (60 * 38_400)).toFixed(5))
  t.is(trunks[1]!.share, null)
})

test('networks behind one router are trunks of their own, beside the devices of its address', t => {
  const points = [{ address: 'analog-input,1', poll_secs: 60 }]
  const at = (network?: number) => ({
    device_id: `d${network}`,
    enabled: true,
    bacnet: { host: '10.0.0.2', ...(network !== undefined && { network }) },
    points,
  })
  const { trunks } = estimateTraffic([at(5), at(6), at(), at(5)])
  t.deepEqual(trunks.map(({ network, devices }) => `${network}: ${devices}`).toSorted(), ['5: 2', '6: 1', 'null: 1'])
})

test('objects that are no points are counted by the name that the standard gives their type', t => {
  // @source ASHRAE 135-2020 clause 21, BACnetObjectType
  const named = {
    ...{ 6: 'calendar', 7: 'command', 8: 'device', 9: 'event-enrollment', 10: 'file', 11: 'group', 15: 'notification-class' },
    ...{ 16: 'program', 17: 'schedule', 18: 'averaging', 20: 'trend-log', 21: 'life-safety-point', 22: 'life-safety-zone' },
    ...{ 25: 'event-log', 27: 'trend-log-multiple', 28: 'load-control', 29: 'structured-view', 56: 'network-port' },
    ...{ 30: 'type 30', 42: 'type 42' },
  }
  for (const [type, name] of Object.entries(named)) {
    const { objects, others } = sortEntries([{ type: 'object', object: { type: Number(type), instance: 1 } }])
    t.deepEqual({ objects, others }, { objects: [], others: { [name]: 1 } })
  }
})

test('entries of an object list are taken once each, and what is none is counted', t => {
  const entry = (type: number, instance: number) => ({ type: 'object' as const, object: { type, instance } })
  const { objects, others, unusable } = sortEntries([
    entry(8, 1),
    entry(0, 1),
    entry(0, 1),
    entry(20, 4),
    entry(20, 5),
    entry(300, 1),
    { type: 'null' },
    undefined,
  ])
  t.deepEqual(objects, [{ type: 0, instance: 1 }])
  t.deepEqual(others, { device: 1, 'trend-log': 2, 'type 300': 1 })
  t.is(unusable, 3)
})
