/** Selection of the objects that visits read. */
import test from 'ava'
import { type CataloguePoint, visitedObjects } from '#appliance/core/priority/visit-objects.ts'

const point = (address: string, extra: Partial<CataloguePoint> = {}): CataloguePoint => ({ address, name: address, ...extra })
const AHU = { device_id: 'ahu', device_instance: 7 }
const listed = (...points: CataloguePoint[]) =>
  visitedObjects(AHU, points).map(({ target, label }) => [`${target.object_type},${target.object_instance}`, label])

test('outputs, values and inputs are visited, and objects of other types are not', t => {
  const addresses = [
    'analog-input,1',
    'analog-output,1',
    'analog-value,1',
    'binary-input,1',
    'binary-output,1',
    'binary-value,1',
    'multi-state-input,1',
    'multi-state-output,1',
    'multi-state-value,1',
    'loop,1',
    'large-analog-value,1',
    'device,7/object-name',
  ]
  t.deepEqual(
    listed(...addresses.map(address => point(address))).map(([address]) => address),
    addresses.slice(0, 9),
  )
})

test('an input is visited unless one of its points says false', t => {
  const points = ['analog-input,1', 'binary-input,2', 'multi-state-input,3', 'analog-output,4', 'device,7/object-name'].map(
    address => point(address),
  )
  const names = (...more: CataloguePoint[]) =>
    visitedObjects(AHU, [...points, ...more]).map(({ target }) => `${target.object_type},${target.object_instance}`)
  t.deepEqual(names(), ['analog-input,1', 'analog-output,4', 'binary-input,2', 'multi-state-input,3'])
  t.deepEqual(names(point('analog-input,1/description', { priority_history: false })), names().slice(1))
})

for (const [what, points, expected] of [
  ['an object with a point that says false is left out', [point('analog-output,1', { priority_history: false })], []],
  [
    'an object of another type is visited when its point says true',
    [point('large-analog-value,3', { priority_history: true, name: 'Energy limit' })],
    [['large-analog-value,3', 'Energy limit']],
  ],
  ["a vendor's type goes by its number", [point('300,3', { priority_history: true, name: 'Odd' })], [['300,3', 'Odd']]],
  [
    'an object of several points is visited once, with the name of its present value',
    [
      point('analog-output,1/priority-array[8]', { name: 'Operator' }),
      point('analog-output,1', { name: 'Valve' }),
      point('analog-output,1/present-value', { name: 'Valve again' }),
    ],
    [['analog-output,1', 'Valve']],
  ],
  [
    'a point that says false overrides one that says true',
    [point('analog-output,1', { priority_history: true }), point('analog-output,1/description', { priority_history: false })],
    [],
  ],
] as const) {
  test(what, t => {
    t.deepEqual(
      listed(...points),
      expected.map(pair => [...pair]),
    )
  })
}

test('objects are ordered by type and instance', t => {
  const objects = visitedObjects(
    AHU,
    ['binary-output,1', 'analog-output,10', 'analog-output,9'].map(address => point(address)),
  )
  t.deepEqual(
    objects.map(({ target }) => target),
    [
      { ...AHU, object_type: 'analog-output', object_instance: 9 },
      { ...AHU, object_type: 'analog-output', object_instance: 10 },
      { ...AHU, object_type: 'binary-output', object_instance: 1 },
    ],
  )
})
