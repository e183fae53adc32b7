/** What is asked of a device, whatever it declines or drops: every point comes out once, and the asking ends. */
import test from 'ava'
import fc from 'fast-check'
import { firstBatch, plainSize } from '#appliance/drivers/bacnet/core/batch.ts'
import { ReadSequence } from '#appliance/drivers/bacnet/core/read-sequence.ts'
import { type DeviceMemory, createDeviceMemory } from '#appliance/drivers/bacnet/core/device-memory.ts'
import { PRESENT_VALUE } from '#shared/core/bacnet/object.ts'
import type { RequestRefusal } from '#appliance/drivers/bacnet/core/reply.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'

type Item = { address: { target: { type: number; instance: number; property: number } } }
const item = (instance: number): Item => ({ address: { target: { type: 0, instance, property: PRESENT_VALUE } } })
const items = (count: number) => Array.from({ length: count }, (_, i) => item(i))
const instanceOf = ({ address }: Item) => address.target.instance

type Says = 'results' | RequestRefusal | 'silent' | 'garbled'
/** @returns the points with a value, those without, and how many requests it took */
function ask(known: DeviceMemory, wanted: Item[], device: (asked: number[], isAlone: boolean) => Says, now = 0) {
  const sequence = new ReadSequence(known, wanted, false, now)
  const good: number[] = []
  const bad: number[] = []
  const sizes: number[] = []
  let witnesses = 0
  for (let request = sequence.next(); request; request = sequence.next()) {
    const asked = request.items.map(instanceOf)
    sizes.push(request.isAlone ? 0 : asked.length)
    if (request.isWitness) witnesses++
    const says = device(asked, request.isAlone)
    if (says === 'results') {
      const results = asked.map(() => ({ values: [{ type: 'real', value: 1 } as const] }))
      sequence.answered(request, results)
      if (!request.isWitness) good.push(...asked)
    } else if (says === 'silent' || says === 'garbled') {
      if (sequence.unanswered(request, says, says)) continue
      return { good: [], bad: wanted.map(instanceOf), sizes, witnesses }
    } else bad.push(...sequence.declined(request, says).map(instanceOf))
  }
  bad.push(...sequence.unread().map(({ item: one }) => instanceOf(one)))
  return { good, bad, sizes, witnesses }
}
const sorted = (list: number[]) => list.toSorted((a, b) => a - b)
const all = (count: number) => Array.from({ length: count }, (_, i) => i)

const SAYINGS: Says[] = [
  'results',
  { by: 'abort', reason: 4 },
  { by: 'abort', reason: 9 },
  { by: 'reject', reason: 7 },
  { by: 'reject', reason: 9 },
  { by: 'error', errorClass: 1, errorCode: 31 },
  { by: 'error', errorClass: 5, errorCode: 29 },
  'silent',
  'garbled',
]

test('whatever a device says, every point comes out once, in about three requests for each at the worst', t => {
  const answers = fc.array(fc.nat({ max: SAYINGS.length - 1 }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(answers, fc.integer({ min: 1, max: 60 }), fc.integer({ min: 50, max: 1476 }), (dice, count, apdu) => {
      const known = createDeviceMemory(firstBatch(apdu))
      let turn = 0
      for (let visit = 0; visit < 4; visit++) {
        const { good, bad, sizes } = ask(known, items(count), () => SAYINGS[dice[turn++ % dice.length]!]!, visit * DAY)
        t.deepEqual(sorted([...good, ...bad]), all(count))
        // Each point alone, each point of a tree of halves, and a few times the whole batch halved.
        t.true(sizes.length <= 3 * count + 40)
        t.true(plainSize(known.learnt.batch) >= 1 && plainSize(known.learnt.batch) <= firstBatch(apdu).size)
      }
    }),
    { numRuns: 500 },
  )
})

test('a device that takes so many at once is asked so many, for every limit', t => {
  for (let limit = 1; limit <= 40; limit++) {
    const known = createDeviceMemory(firstBatch(1476))
    const device = (asked: number[]): Says => (asked.length <= limit ? 'results' : { by: 'abort', reason: 4 })
    t.deepEqual(sorted(ask(known, items(40), device).good), all(40))
    const { good, sizes } = ask(known, items(40), device)
    t.deepEqual(sorted(good), all(40))
    t.true(
      sizes.every(size => size <= limit),
      `nothing is declined the second time at ${limit}`,
    )
    t.true(Math.max(...sizes) * 2 >= Math.min(limit, 40), `half of what it takes at ${limit}`)
  }
})

test('points that spoil a batch are found, asked alone for some minutes, and then tried in company again', t => {
  const spoilers = new Set([0, 17, 18, 39])
  const device = (asked: number[], isAlone: boolean): Says =>
    !isAlone && asked.some(one => spoilers.has(one)) ? { by: 'error', errorClass: 2, errorCode: 32 } : 'results'
  const known = createDeviceMemory(firstBatch(1476))
  t.deepEqual(sorted(ask(known, items(40), device).good), all(40))
  t.deepEqual(ask(known, items(40), device, 5 * MINUTE - 1).sizes, [36, 0, 0, 0, 0])
  const { good, sizes } = ask(known, items(40), device, 5 * MINUTE)
  t.deepEqual(sorted(good), all(40))
  t.deepEqual(sizes.slice(0, 2), [35, 5], 'one that is known to be good is their company')
  t.deepEqual(ask(known, items(40), device, 15 * MINUTE - 1).sizes, [36, 0, 0, 0, 0])
  spoilers.clear()
  t.deepEqual(ask(known, items(40), device, 15 * MINUTE).sizes, [35, 5])
  t.deepEqual(ask(known, items(40), device, 15 * MINUTE).sizes, [40])
})

test('a device that drops what is too large gives every value in the read in which it is found out', t => {
  for (let limit = 0; limit <= 12; limit++) {
    const known = createDeviceMemory(firstBatch(1476))
    const device = (asked: number[], isAlone: boolean): Says => (isAlone || asked.length <= limit ? 'results' : 'silent')
    t.deepEqual(sorted(ask(known, items(40), device).good), all(40))
    const { good, sizes } = ask(known, items(40), device)
    t.deepEqual(sorted(good), all(40))
    t.true(
      sizes.every(size => size <= limit),
      `nothing is dropped the second time at ${limit}`,
    )
    // Some minutes later more is tried; what is dropped then costs one wait and no value.
    const later = ask(known, items(40), device, 10 * MINUTE)
    t.deepEqual(sorted(later.good), all(40))
    t.deepEqual(sorted(ask(known, items(40), device, DAY).good), all(40))
  }
})

test('a device that dies in the first read has taught nothing', t => {
  const known = createDeviceMemory(firstBatch(1476))
  let requests = 0
  const { good, bad, witnesses } = ask(known, items(200), () => (requests++ === 0 ? 'results' : 'silent'))
  t.deepEqual([good.length, bad.length, requests, witnesses], [92, 108, 4, 2])
  t.is(plainSize(known.learnt.batch), 92)
  t.is(known.culprits.size + known.loners.size, 0)
})
