import test from 'ava'
import fc from 'fast-check'
import { readingQueue } from '#appliance/core/poll/reading-queue.ts'
import type { Reading } from '#shared/core/telemetry/reading.ts'

const readings = (from: number, count: number): Reading[] =>
  Array.from({ length: count }, (_, i) => ({ id: 'p', t: from + i, v: 1, q: 'good' }))
const times = (some: readonly Reading[]) => some.map(({ t }) => t)

test('a queue begins empty, holds as many readings as its bound, and drops the oldest beyond it', t => {
  const queue = readingQueue(3)
  t.is(queue.size(), 0)
  t.is(queue.push(readings(1, 3)), 0)
  t.is(queue.size(), 3)
  t.is(queue.push(readings(4, 1)), 1)
  t.deepEqual(times(queue.take(10)), [2, 3, 4])
  t.is(queue.size(), 0)
})

test('a queue that is cleared says how many readings it had, and is empty', t => {
  const queue = readingQueue(10)
  queue.push(readings(1, 4))
  t.is(queue.clear(), 4)
  t.is(queue.clear(), 0)
  t.deepEqual(queue.take(10), [])
})

test('any sequence of pushes, takes and returns leaves what one bounded list would hold', t => {
  const step = fc.record({ what: fc.constantFrom('push', 'take', 'putBack', 'clear'), count: fc.nat(6) })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(step, { maxLength: 30 }), (max, steps) => {
      const queue = readingQueue(max)
      let held: Reading[] = []
      let taken: Reading[] = []
      steps.forEach(({ what, count }, i) => {
        if (what === 'take') {
          taken = queue.take(count)
          t.deepEqual(taken, held.splice(0, count))
        } else if (what === 'clear') {
          t.is(queue.clear(), held.length)
          held = []
        } else {
          const given = what === 'push' ? readings(100 * i, count) : taken.splice(0)
          const all = what === 'push' ? [...held, ...given] : [...given, ...held]
          t.is(queue[what as 'push' | 'putBack'](given), Math.max(0, all.length - max))
          held = all.slice(-max)
        }
        t.is(queue.size(), held.length)
      })
    }),
  )
})
