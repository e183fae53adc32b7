/** Outputs are read first in a visit, inputs take turns in the rest, and a round has a known length. */
import test from 'ava'
import {
  advanceCursor,
  type DeviceCursor,
  dueObjects,
  roundMs,
  visitsPerRound,
  NEW_CURSOR,
} from '#appliance/core/priority/visit-plan.ts'
import { isInput } from '#shared/core/priority/priority-record.ts'
import type { ArrayAnswer } from '#appliance/core/priority/array-answer.ts'
import { type PriorityObject, visitedObjects } from '#appliance/core/priority/visit-objects.ts'
import { HOUR } from '#shared/core/time.ts'
import { seeded } from '../../../support/wire.ts'

const objectsOf = (outputs: number, inputs: number): PriorityObject[] =>
  visitedObjects({ device_id: 'ahu', device_instance: 7 }, [
    ...Array.from({ length: outputs }, (_, i) => ({ address: `analog-output,${i + 1}`, name: `Output ${i + 1}` })),
    ...Array.from({ length: inputs }, (_, i) => ({
      address: `${i % 2 ? 'binary' : 'analog'}-input,${i + 1}`,
      name: `Input ${i + 1}`,
    })),
  ])
const keyOf = ({ type, instance }: PriorityObject) => `${type},${instance}`
const read = (object: PriorityObject): ArrayAnswer => ({ object, state: 'read', observed_at: 0, slots: [] })

function* visits(objects: PriorityObject[], most: number, answer: (object: PriorityObject) => ArrayAnswer = read) {
  for (let cursor: DeviceCursor = NEW_CURSOR; ; ) {
    const due = dueObjects(objects, cursor, most, 0)
    cursor = advanceCursor(cursor, objects, due.map(answer), 0)
    yield due
  }
}
const some = (count: number, all: Generator<PriorityObject[]>) =>
  Array.from({ length: count }, () => all.next().value as PriorityObject[])
const outputsIn = (due: PriorityObject[]) => due.filter(({ target }) => !isInput(target)).length

test('with 500 inputs and 50 outputs every visit reads all outputs first, and ten visits read every input', t => {
  const asked = some(10, visits(objectsOf(50, 500), 100))
  for (const due of asked) {
    t.is(due.length, 100)
    t.is(outputsIn(due.slice(0, 50)), 50)
  }
  t.is(new Set(asked.flat().map(keyOf)).size, 550)
})

test('inputs get the rest of the visit that ends a round of outputs', t => {
  const asked = some(6, visits(objectsOf(5, 4), 2))
  t.deepEqual(
    asked.map(due => due.map(keyOf)),
    [
      ['1,1', '1,2'],
      ['1,3', '1,4'],
      ['1,5', '0,1'],
      ['1,1', '1,2'],
      ['1,3', '1,4'],
      ['1,5', '0,3'],
    ],
  )
})

test('a round of outputs that fills its last visit is followed by inputs, and outputs fill the rest of that visit', t => {
  const asked = some(4, visits(objectsOf(4, 1), 2))
  t.deepEqual(
    asked.map(due => due.map(keyOf)),
    [
      ['1,1', '1,2'],
      ['1,3', '1,4'],
      ['0,1', '1,1'],
      ['1,2', '1,3'],
    ],
  )
})

test('an output without a priority array at the end of the list does not delay the others', t => {
  const answer = (object: PriorityObject): ArrayAnswer =>
    object.type === 1 && object.instance === 4 ? { object, state: 'not_commandable' } : read(object)
  const asked = some(12, visits(objectsOf(4, 9), 2, answer))
  for (const instance of [1, 2, 3]) {
    const times = asked.filter(due => due.some(object => keyOf(object) === `1,${instance}`)).length
    t.true(times >= 4, `output ${instance} was asked ${times} times in 12 visits`)
  }
})

test('with one point a visit, a round of outputs and one input alternate', t => {
  const asked = some(6, visits(objectsOf(2, 2), 1))
  t.deepEqual(asked.flat().map(keyOf), ['1,1', '1,2', '0,1', '1,1', '1,2', '3,2'])
})

test('no object waits longer than the computed round, for any numbers', t => {
  const random = seeded(5)
  for (let i = 0; i < 400; i++) {
    const objects = objectsOf(Math.floor(random() * 30), Math.floor(random() * 30))
    const most = 1 + Math.floor(random() * 12)
    const { outputs, all } = visitsPerRound(objects, NEW_CURSOR, most, 0)
    const asked = some(all, visits(objects, most))
    const what = `${objects.length} objects, ${most} at a time`
    t.is(new Set(asked.flat().map(keyOf)).size, objects.length, what)
    t.is(
      new Set(
        asked
          .slice(0, outputs)
          .flat()
          .filter(({ target }) => !isInput(target))
          .map(keyOf),
      ).size,
      outputsIn(objects),
      what,
    )
    t.true(
      asked.every(due => due.length === Math.min(most, objects.length) && new Set(due).size === due.length),
      what,
    )
  }
})

// Failed objects are read first in the next visit, so inputs have little room while all outputs fail.
test('every object is read eventually, whichever fail', t => {
  const random = seeded(9)
  for (let i = 0; i < 200; i++) {
    const objects = objectsOf(Math.floor(random() * 20), Math.floor(random() * 20))
    const most = 1 + Math.floor(random() * 12)
    const share = random()
    const rounds = 20 * visitsPerRound(objects, NEW_CURSOR, most, 0).all
    const asked = some(
      rounds,
      visits(objects, most, object => (random() < share ? { object, state: 'failed', reason: 'no' } : read(object))),
    )
    t.is(new Set(asked.flat().map(keyOf)).size, objects.length, `${objects.length} objects, ${most} at a time`)
  }
})

for (const [outputs, inputs, most, expected] of [
  [50, 500, 100, { outputs: 1, all: 10 }],
  [50, 0, 100, { outputs: 1, all: 1 }],
  [250, 0, 100, { outputs: 3, all: 3 }],
  [250, 100, 100, { outputs: 3, all: 6 }],
  [100, 100, 100, { outputs: 2, all: 2 }],
  [0, 250, 100, { outputs: 0, all: 3 }],
  [0, 0, 100, { outputs: 0, all: 0 }],
] as const) {
  test(`${outputs} outputs and ${inputs} inputs, ${most} a visit, take ${expected.outputs} and ${expected.all} visits`, t => {
    t.deepEqual(visitsPerRound(objectsOf(outputs, inputs), NEW_CURSOR, most, 0), expected)
  })
}

test('a round takes as many turns as the device with the most visits', t => {
  const devices = [
    { outputs: 1, all: 10 },
    { outputs: 3, all: 3 },
  ]
  t.deepEqual(roundMs(devices, HOUR), { outputs: 6 * HOUR, all: 20 * HOUR })
  t.deepEqual(roundMs([], HOUR), { outputs: 0, all: 0 })
})
