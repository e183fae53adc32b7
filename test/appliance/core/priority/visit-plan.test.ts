/** Selection of the objects that the next visit reads. */
import test from 'ava'
import type { ArrayAnswer } from '#appliance/core/priority/array-answer.ts'
import { visitedObjects, type PriorityObject } from '#appliance/core/priority/visit-objects.ts'
import {
  advanceCursor,
  type DeviceCursor,
  dueObjects,
  NEW_CURSOR,
  newlyNotCommandable,
} from '#appliance/core/priority/visit-plan.ts'
import { DAY } from '#shared/core/time.ts'
import { seeded } from '../../../support/wire.ts'

const AHU = { device_id: 'ahu', device_instance: 7 }
const outputs = (count: number) =>
  visitedObjects(
    AHU,
    Array.from({ length: count }, (_, i) => ({ address: `analog-output,${i + 1}`, name: `Output ${i + 1}` })),
  )
const ids = (objects: readonly PriorityObject[]) => objects.map(({ instance }) => instance)
const read = (object: PriorityObject): ArrayAnswer => ({ object, state: 'read', observed_at: 0, slots: [] })
const failed = (object: PriorityObject): ArrayAnswer => ({ object, state: 'failed', reason: 'no' })
const without = (object: PriorityObject): ArrayAnswer => ({ object, state: 'not_commandable' })

/** Plans visits of at most `most` points. @returns the instances that each reads */
function visits(
  count: number,
  objects: PriorityObject[],
  most: number,
  answer: (object: PriorityObject) => ArrayAnswer,
): number[][] {
  let cursor: DeviceCursor = NEW_CURSOR
  return Array.from({ length: count }, () => {
    const due = dueObjects(objects, cursor, most, 0)
    cursor = advanceCursor(cursor, objects, due.map(answer), 0)
    return ids(due)
  })
}

test('points that do not fit into a visit are read in the next ones, and then the round starts again', t => {
  t.deepEqual(visits(4, outputs(5), 2, read), [
    [1, 2],
    [3, 4],
    [5, 1],
    [2, 3],
  ])
})

test('a point that failed is read first in the next visit, once, and delays no other', t => {
  const answer = (object: PriorityObject) => (object.instance === 2 ? failed(object) : read(object))
  t.deepEqual(visits(5, outputs(5), 2, answer), [
    [1, 2],
    [2, 3],
    [4, 5],
    [1, 2],
    [2, 3],
  ])
})

test('with one point a visit, a point that always fails is skipped after its second attempt', t => {
  const answer = (object: PriorityObject) => (object.instance === 2 ? failed(object) : read(object))
  t.deepEqual(visits(6, outputs(3), 1, answer), [[1], [2], [2], [3], [1], [2]])
})

test('when all points fail, all are read in turn', t => {
  t.deepEqual(visits(4, outputs(4), 2, failed), [
    [1, 2],
    [1, 2],
    [3, 4],
    [3, 4],
  ])
})

test('a point without a priority array is reported once and read again after a day', t => {
  const objects = outputs(3)
  const answers = [read(objects[0]!), without(objects[1]!), read(objects[2]!)]
  t.deepEqual(ids(newlyNotCommandable(NEW_CURSOR, answers)), [2])
  const cursor = advanceCursor(NEW_CURSOR, objects, answers, 1000)
  t.deepEqual(ids(dueObjects(objects, cursor, 9, 2000)).toSorted(), [1, 3])
  t.deepEqual(ids(dueObjects(objects, cursor, 9, 1000 + DAY)).toSorted(), [1, 2, 3])
  t.deepEqual(newlyNotCommandable(cursor, [without(objects[1]!)]), [])
  t.deepEqual(advanceCursor(cursor, objects, [read(objects[1]!)], 3000).without, {})
})

test('a clock that was set back does not exclude a point for longer', t => {
  const objects = outputs(1)
  const cursor = advanceCursor(NEW_CURSOR, objects, [without(objects[0]!)], 100 * DAY)
  t.deepEqual(ids(dueObjects(objects, cursor, 9, DAY)), [1])
})

test('a visit that ended early continues at the same place, and unread points are still due', t => {
  const objects = outputs(6)
  const before: DeviceCursor = { after: { type: 1, instance: 2 }, again: ['analog,x', '1,1', '1,2'], without: {} }
  t.deepEqual(ids(dueObjects(objects, before, 4, 0)), [1, 2, 3, 4])
  const cursor = advanceCursor(before, objects, [failed(objects[0]!)], 0)
  t.deepEqual(cursor, { after: { type: 1, instance: 2 }, again: ['1,2'], without: {} })
  t.deepEqual(advanceCursor(before, objects, [], 0), { ...before, again: ['1,1', '1,2'] })
})

test('a changed catalogue is continued from the same place', t => {
  const objects = outputs(6)
  const cursor: DeviceCursor = { after: { type: 1, instance: 3 }, again: [], without: { '1,9': 0 } }
  const now = objects.filter(({ instance }) => instance !== 3)
  t.deepEqual(ids(dueObjects(now, cursor, 2, 0)), [4, 5])
  t.deepEqual(ids(dueObjects(outputs(2), cursor, 2, 0)), [1, 2])
  t.deepEqual(advanceCursor(cursor, now, [], 0).without, {})
  t.deepEqual(dueObjects([], cursor, 2, 0), [])
})

test('no point waits longer than two rounds, whichever fail', t => {
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
