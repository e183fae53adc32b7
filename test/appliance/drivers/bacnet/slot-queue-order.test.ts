/** Who is let in when, and how fast. */
import test from 'ava'
import { attemptTimeoutMs, limitRate, slotMs, slowestAfter } from '#appliance/drivers/bacnet/core/rate-limit.ts'
import { createSlotQueue } from '#appliance/drivers/bacnet/slot-queue.ts'
import { range } from './harness.ts'

test('a lane lets in as many as its width, the others in the order they came', t => {
  const lane = createSlotQueue()
  const order: number[] = []
  const places = range(5).map(i => lane.enter(2, () => order.push(i)))
  t.deepEqual(order, [0, 1])
  places[0]!.leave()
  places[0]!.leave()
  t.deepEqual(order, [0, 1, 2])
  // Who leaves the queue is never let in.
  places[3]!.leave()
  places[1]!.leave()
  places[2]!.leave()
  t.deepEqual(order, [0, 1, 2, 4])
})

test('who needs a narrow lane waits until it is empty enough', t => {
  const lane = createSlotQueue()
  const order: string[] = []
  const wide = range(3).map(i => lane.enter(3, () => order.push(`wide ${i}`)))
  const narrow = lane.enter(1, () => order.push('narrow'))
  for (const place of wide.slice(0, 2)) place.leave()
  t.is(order.length, 3)
  wide[2]!.leave()
  t.is(order.at(-1), 'narrow')
  narrow.leave()
})

test('a lane whose visitors leave at once lets all of a long queue through', t => {
  const lane = createSlotQueue()
  const first = lane.enter(1, () => undefined)
  let through = 0
  for (const _ of range(20_000)) {
    const place = lane.enter(1, () => {
      through++
      place.leave()
    })
  }
  first.leave()
  t.is(through, 20_000)
})

test('an even rate is kept, and after a pause a tenth of a second may be made up for', t => {
  const waits = (nows: number[], perSecond: number) => {
    let paidUntil = 0
    return nows.map(now => {
      const paid = limitRate(paidUntil, now, perSecond)
      paidUntil = paid.paidUntil
      return paid.waitMs
    })
  }
  t.deepEqual(waits([1000, 1000, 1000, 1000], 20), [0, 0, 50, 100])
  t.deepEqual(waits([1000, 1050, 1100, 1150], 20), [0, 0, 0, 0])
  t.deepEqual(waits([1000, 1000, 9000, 9000, 9000], 20), [0, 0, 0, 0, 50])
  t.deepEqual(waits([1000, 1000, 1000], 1), [0, 1000, 2000])
})

test('each attempt waits longer than the one before, the repetitions by chance a little more', t => {
  t.deepEqual(
    [0, 1, 2].map(attempt => attemptTimeoutMs(3000, attempt, 0)),
    [3000, 4500, 6000],
  )
  t.deepEqual(
    [0, 1, 2].map(attempt => Math.round(attemptTimeoutMs(3000, attempt, 0.5))),
    [3000, 4950, 6600],
  )
})

test('a slot is held for a second, on a slow trunk for twice its slowest answer, and less again after quick ones', t => {
  const held = (rtts: number[]) => Math.round(slotMs(rtts.reduce(slowestAfter, 0)))
  t.is(held([]), 1000)
  t.is(held([20, 30]), 1000)
  t.is(held([20, 2000]), 4000)
  t.is(held([2000, 0, 0]), 3240)
  t.is(held([2000, ...Array<number>(20).fill(100)]), 1000)
})
