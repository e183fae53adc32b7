/** Which points a visit asks for, and when it is due. */
import test from 'ava'
import {
  commandableObjects,
  cursorAfter,
  type DeviceCursor,
  deviceAfter,
  dueObjects,
  newlyWithout,
  nextDue,
  type ScanPoint,
  START,
  visitedObjects,
} from '#appliance/core/priority/plan.ts'
import type { ArrayAnswer, ScanObject } from '#appliance/core/priority/visit.ts'
import { DAY } from '#shared/core/time.ts'
import { seeded } from '../../../support/wire.ts'

const point = (address: string, extra: Partial<ScanPoint> = {}): ScanPoint => ({ address, name: address, ...extra })
const AHU = { device_id: 'ahu', device_instance: 7 }
const listed = (...points: ScanPoint[]) =>
  commandableObjects(AHU, points).map(({ target, label }) => [`${target.object_type},${target.object_instance}`, label])

test('outputs and values are visited, inputs are not', t => {
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
    ['analog-output,1', 'analog-value,1', 'binary-output,1', 'binary-value,1', 'multi-state-output,1', 'multi-state-value,1'],
  )
})

test('inputs are visited besides, unless their point says no', t => {
  const points = ['analog-input,1', 'binary-input,2', 'multi-state-input,3', 'analog-output,4', 'device,7/object-name'].map(
    address => point(address),
  )
  const names = (...more: ScanPoint[]) =>
    visitedObjects(AHU, [...points, ...more]).map(({ target }) => `${target.object_type},${target.object_instance}`)
  t.deepEqual(names(), ['analog-input,1', 'analog-output,4', 'binary-input,2', 'multi-state-input,3'])
  t.deepEqual(names(point('analog-input,1/description', { priority_history: false })), names().slice(1))
})

for (const [what, points, expected] of [
  ['a point that says false is left out', [point('analog-output,1', { priority_history: false })], []],
  [
    'a value of another type is visited when its point says so',
    [point('large-analog-value,3', { priority_history: true, name: 'Energy limit' })],
    [['large-analog-value,3', 'Energy limit']],
  ],
  ["a vendor's type goes by its number", [point('300,3', { priority_history: true, name: 'Odd' })], [['300,3', 'Odd']]],
  [
    'an object of several points is visited once, under the name of its present value',
    [
      point('analog-output,1/priority-array[8]', { name: 'Operator' }),
      point('analog-output,1', { name: 'Valve' }),
      point('analog-output,1/present-value', { name: 'Valve again' }),
    ],
    [['analog-output,1', 'Valve']],
  ],
  [
    'one point that says false decides for its object',
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

test('objects stand in the order of type and instance', t => {
  const objects = commandableObjects(
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

const outputs = (count: number) =>
  commandableObjects(
    AHU,
    Array.from({ length: count }, (_, i) => point(`analog-output,${i + 1}`)),
  )
const ids = (objects: readonly ScanObject[]) => objects.map(({ instance }) => instance)
const read = (object: ScanObject): ArrayAnswer => ({ object, state: 'read', observed_at: 0, slots: [] })
const failed = (object: ScanObject): ArrayAnswer => ({ object, state: 'failed', reason: 'no' })
const without = (object: ScanObject): ArrayAnswer => ({ object, state: 'not_commandable' })

/** Visits with at most `most` points, one after the other. @returns the instances that each asked for */
function visits(count: number, objects: ScanObject[], most: number, answer: (object: ScanObject) => ArrayAnswer): number[][] {
  let cursor: DeviceCursor = START
  return Array.from({ length: count }, () => {
    const due = dueObjects(objects, cursor, most, 0)
    cursor = cursorAfter(cursor, objects, due.map(answer), 0)
    return ids(due)
  })
}

test('points beyond the most of a visit are reached in the next ones, and then it begins anew', t => {
  t.deepEqual(visits(4, outputs(5), 2, read), [
    [1, 2],
    [3, 4],
    [5, 1],
    [2, 3],
  ])
})

test('a point that failed comes first in the next visit, once, and holds up nobody', t => {
  const answer = (object: ScanObject) => (object.instance === 2 ? failed(object) : read(object))
  t.deepEqual(visits(5, outputs(5), 2, answer), [
    [1, 2],
    [2, 3],
    [4, 5],
    [1, 2],
    [2, 3],
  ])
})

test('with one point in a visit a point that always fails is passed after its second time', t => {
  const answer = (object: ScanObject) => (object.instance === 2 ? failed(object) : read(object))
  t.deepEqual(visits(6, outputs(3), 1, answer), [[1], [2], [2], [3], [1], [2]])
})

test('where all fail, all are asked in their turn', t => {
  t.deepEqual(visits(4, outputs(4), 2, failed), [
    [1, 2],
    [1, 2],
    [3, 4],
    [3, 4],
  ])
})

test('a point without a priority array is asked once, noted once, and looked at again after a day', t => {
  const objects = outputs(3)
  const answers = [read(objects[0]!), without(objects[1]!), read(objects[2]!)]
  t.deepEqual(ids(newlyWithout(START, answers)), [2])
  const cursor = cursorAfter(START, objects, answers, 1000)
  t.deepEqual(ids(dueObjects(objects, cursor, 9, 2000)).toSorted(), [1, 3])
  t.deepEqual(ids(dueObjects(objects, cursor, 9, 1000 + DAY)).toSorted(), [1, 2, 3])
  t.deepEqual(newlyWithout(cursor, [without(objects[1]!)]), [])
  t.deepEqual(cursorAfter(cursor, objects, [read(objects[1]!)], 3000).without, {})
})

test('a clock that was set back does not keep a point away', t => {
  const objects = outputs(1)
  const cursor = cursorAfter(START, objects, [without(objects[0]!)], 100 * DAY)
  t.deepEqual(ids(dueObjects(objects, cursor, 9, DAY)), [1])
})

test('a visit that broke off goes on where it stood, and what it did not come to is still due', t => {
  const objects = outputs(6)
  const before: DeviceCursor = { after: { type: 1, instance: 2 }, again: ['analog,x', '1,1', '1,2'], without: {} }
  t.deepEqual(ids(dueObjects(objects, before, 4, 0)), [1, 2, 3, 4])
  const cursor = cursorAfter(before, objects, [failed(objects[0]!)], 0)
  t.deepEqual(cursor, { after: { type: 1, instance: 2 }, again: ['1,2'], without: {} })
  t.deepEqual(cursorAfter(before, objects, [], 0), { ...before, again: ['1,1', '1,2'] })
})

test('a list that changed meanwhile is gone on with from the same place', t => {
  const objects = outputs(6)
  const cursor: DeviceCursor = { after: { type: 1, instance: 3 }, again: [], without: { '1,9': 0 } }
  const now = objects.filter(({ instance }) => instance !== 3)
  t.deepEqual(ids(dueObjects(now, cursor, 2, 0)), [4, 5])
  t.deepEqual(ids(dueObjects(outputs(2), cursor, 2, 0)), [1, 2])
  t.deepEqual(cursorAfter(cursor, now, [], 0).without, {})
  t.deepEqual(dueObjects([], cursor, 2, 0), [])
})

test('devices are visited in turn, by their ids, whatever comes and goes', t => {
  const devices = ['b', 'a', 'c'].map(device_id => ({ device_id, device_instance: 1, objects: [] }))
  const next = (last: string | null) => deviceAfter(devices, last)?.device_id
  t.deepEqual([null, 'a', 'b', 'c', 'aa', 'z'].map(next), ['a', 'b', 'c', 'a', 'b', 'a'])
  t.is(deviceAfter([], 'a'), undefined)
})

for (const [what, due, expected] of [
  ['at once when there never was one', null, 10_000],
  ['when it was planned', 10_300, 10_300],
  ['now, when that is now', 10_000, 10_000],
  ['at the next time by the plan, when one was missed', 9_900, 10_900],
  ['at the next time by the plan, when many were missed', 2_900, 10_900],
  ['at most an interval from now, when the clock was set back', 99_000, 11_000],
] as const) {
  test(`after a restart a visit is due ${what}`, t => {
    t.is(nextDue(due, 10_000, 1_000), expected)
  })
}

test('whatever fails, no point waits longer than for two rounds', t => {
  const random = seeded(3)
  for (let round = 0; round < 300; round++) {
    const count = 1 + Math.floor(random() * 30)
    const most = 1 + Math.floor(random() * 12)
    const failing = random()
    const rounds = 2 * Math.ceil(count / most) + 1
    const asked = visits(rounds, outputs(count), most, object => (random() < failing ? failed(object) : read(object)))
    t.true(asked.every(some => some.length === Math.min(most, count)))
    t.true(asked.every(some => new Set(some).size === some.length))
    t.is(new Set(asked.flat()).size, count, `${count} points, ${most} at a time`)
  }
})
