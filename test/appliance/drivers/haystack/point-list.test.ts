import test from 'ava'
import { listPoints } from '#appliance/drivers/haystack/core/point-list.ts'

const marker = { _kind: 'marker' }
const ref = (val: string, dis?: string) => ({ _kind: 'ref', val, ...(dis !== undefined && { dis }) })
const marked = (tags: string) => Object.fromEntries(tags.split(' ').map(tag => [tag, marker]))
const equip = (id: string, dis: string, tags: string, refs: Record<string, string> = {}) => ({
  ...{ id: ref(id), dis },
  ...marked(`equip ${tags}`),
  ...Object.fromEntries(Object.entries(refs).map(([tag, to]) => [tag, ref(to)])),
})
const point = (id: string, dis: string, equipRef: string, tags: string, more: object = {}) => ({
  ...{ id: ref(id), dis, equipRef: ref(equipRef), kind: 'Number', unit: '°F' },
  ...marked(`point cur his ${tags}`),
  ...more,
})
const NONE = { device_id: 'server-1', addresses: new Set<string>(), points: [], equipment: [] }
const EQUIPS = [
  equip('p:demo:r:a', 'AHU-1', 'ahu hvac'),
  equip('p:demo:r:f', 'AHU-1 Supply Fan', 'fan motor', { equipRef: 'p:demo:r:a' }),
  equip('p:demo:r:v', 'VAV 1-03', 'vav', { ahuRef: 'p:demo:r:a', hotWaterRef: 'p:demo:r:h' }),
  equip('p:demo:r:h', 'HW', 'hotWaterPlant'),
  equip('p:demo:r:x', 'Lift', 'elevator'),
]

test('points get role and equipment by their tags, and what serves the equipment comes along', t => {
  const list = listPoints(
    [
      point('p:demo:r:1', 'Discharge Air Temp', 'p:demo:r:a', 'discharge air temp sensor'),
      point('p:demo:r:2', 'Fan', 'p:demo:r:f', 'discharge fan run cmd', { kind: 'Bool', unit: undefined }),
      point('p:demo:r:3', 'Zone Temp', 'p:demo:r:v', 'zone air temp sensor'),
      point('p:demo:r:4', 'Floor', 'p:demo:r:x', 'sensor', { unit: undefined }),
    ],
    EQUIPS,
    NONE,
  )
  t.deepEqual(list, {
    equipment: [
      { equipment_id: 'AHU-1', name: 'AHU-1', equipment_type: 'ahu' },
      { equipment_id: 'vav-1-03', name: 'VAV 1-03', equipment_type: 'vav', parent_id: 'AHU-1' },
      { equipment_id: 'HW', name: 'HW', equipment_type: 'hw_plant', feeds: ['vav-1-03'] },
    ],
    points: [
      {
        ...{
          point_id: 'AHU-1.Discharge-Air-Temp',
          address: '@p:demo:r:1',
          name: 'Discharge Air Temp',
          unit: 'degF',
          kind: 'number',
        },
        ...{ role: 'sa_t', equipment_id: 'AHU-1' },
      },
      {
        ...{ point_id: 'AHU-1.Fan', address: '@p:demo:r:2', name: 'Fan', unit: 'bool', kind: 'bool' },
        ...{ role: 'fan_cmd', equipment_id: 'AHU-1' },
      },
      {
        ...{ point_id: 'vav-1-03.Zone-Temp', address: '@p:demo:r:3', name: 'Zone Temp', unit: 'degF', kind: 'number' },
        ...{ role: 'zone_t', equipment_id: 'vav-1-03' },
      },
      { point_id: 'server-1.Floor', address: '@p:demo:r:4', name: 'Floor', unit: 'count', kind: 'number' },
    ],
    known: 0,
    leftOut: [],
  })
})

test('what is known already is not added again, and keeps its ids', t => {
  const known = { equipment_id: 'rooftop', name: 'AHU-1', equipment_type: 'ahu' } as const
  const list = listPoints(
    [
      point('1', 'Discharge Air Temp', 'p:demo:r:a', 'discharge air temp sensor'),
      point('2', 'Return Air Temp', 'p:demo:r:a', 'return air temp sensor'),
    ],
    EQUIPS,
    { ...NONE, addresses: new Set(['@1']), points: [{ point_id: 'rooftop.Return-Air-Temp' }], equipment: [known] },
  )
  t.deepEqual(list.equipment, [])
  t.is(list.known, 1)
  t.like(list.points, [{ point_id: 'rooftop.Return-Air-Temp-2', role: 'ra_t', equipment_id: 'rooftop' }])
})

test('of two points with the same tags none has the role, nor has one whose unit or kind does not fit it', t => {
  const temp = 'discharge air temp sensor'
  const { points } = listPoints(
    [
      point('1', 'SAT', 'p:demo:r:a', temp),
      point('2', 'SAT 2', 'p:demo:r:a', temp),
      point('3', 'RAT', 'p:demo:r:a', 'return air temp sensor', { unit: 'kW' }),
      point('4', 'Cool', 'p:demo:r:a', 'cool valve cmd', { kind: 'Bool' }),
      point('5', 'MAT', 'p:demo:r:a', 'mixed air temp sensor'),
    ],
    EQUIPS,
    { ...NONE, points: [{ point_id: 'x', equipment_id: 'AHU-1', role: 'ma_t' }] },
  )
  t.deepEqual(
    points.map(({ role }) => role),
    [undefined, undefined, undefined, undefined, undefined],
  )
})

test('records that cannot be read are named with the reason', t => {
  const { points, leftOut } = listPoints(
    [
      point('1', 'Speed', 'p:demo:r:a', 'sensor', { unit: 'furlong' }),
      point('2', 'No kind', 'p:demo:r:a', 'sensor', { kind: undefined }),
      { ...point('3', 'No id', 'p:demo:r:a', 'sensor'), id: null },
      point('4', 'History alone', 'p:demo:r:a', 'sensor', { cur: undefined }),
      point('r'.repeat(200), 'Long', 'p:demo:r:a', 'sensor'),
      point('5', 'Mode', 'p:demo:r:a', 'mode', { kind: 'Str', enum: 'off, cool,heat', unit: undefined }),
    ],
    EQUIPS,
    NONE,
  )
  t.deepEqual(leftOut, [
    { name: 'Speed', reason: 'the unit furlong is unknown' },
    { name: 'No kind', reason: 'it has neither a kind nor a value' },
    { name: 'No id', reason: 'it has no id' },
    { name: 'Long', reason: 'its id is longer than 199 characters' },
  ])
  t.like(points, [{ kind: 'enum', states: ['off', 'cool', 'heat'], role: 'mode' }])
})

test('a record that says its unit with its value alone has that unit', t => {
  const record = (id: string, curVal: unknown) => ({ ...point(id, id, 'p:demo:r:a', 'sensor', { unit: undefined }), curVal })
  const { points, leftOut } = listPoints(
    [
      record('power', { _kind: 'number', val: 1.5, unit: 'kW' }),
      record('own', { _kind: 'number', val: 1.5, unit: '_custom' }),
      record('plain', 3),
      { ...record('said', { _kind: 'number', val: 70, unit: '°C' }), unit: '°F' },
    ],
    EQUIPS,
    NONE,
  )
  t.deepEqual(
    points.map(({ name, unit }) => [name, unit]),
    [
      ['power', 'kW'],
      ['plain', 'count'],
      ['said', 'degF'],
    ],
  )
  t.deepEqual(leftOut, [{ name: 'own', reason: 'the unit _custom is unknown' }])
})

for (const [markers, equipment_type] of [
  ['ahu rooftop', 'rtu'],
  ['ahu fan heatPump', 'heat_pump'],
  ['fan vav', 'vav'],
  ['chilled plant water', 'chw_plant'],
  ['hot plant water', 'hw_plant'],
  ['elec meter', 'meter'],
  ['coolingTower', 'cooling_tower'],
] as const)
  test(`equipment with the markers ${markers} is of the type ${equipment_type}`, t => {
    const { equipment } = listPoints([point('1', 'X', 'e', 'sensor')], [equip('e', 'E', markers)], NONE)
    t.like(equipment, [{ equipment_type }])
  })

test('links that go round in a circle, or to nothing, end', t => {
  const { equipment } = listPoints(
    [point('1', 'SAT', 'a', 'discharge air temp sensor'), point('2', 'Lost', 'gone', 'sensor')],
    [
      equip('a', 'A', 'ahu', { airRef: 'b', chilledWaterRef: 'nowhere' }),
      equip('b', 'B', 'ahu', { airRef: 'a' }),
      equip('c', 'C', 'fan', { equipRef: 'c' }),
    ],
    NONE,
  )
  t.deepEqual(equipment, [
    { equipment_id: 'A', name: 'A', equipment_type: 'ahu', parent_id: 'B' },
    { equipment_id: 'B', name: 'B', equipment_type: 'ahu' },
  ])
})
