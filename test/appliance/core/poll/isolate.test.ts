/** Finding the points that spoil a request for all, as far as no bus is concerned. */
import test from 'ava'
import { accuse, type Apart, cut, endPart, failure, firstUnreached, sortOut, splitPart } from '#appliance/core/poll/isolate.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'

const self = (key: string) => key

for (const [count, ways, lengths] of [
  [92, 4, [23, 23, 23, 23]],
  [5, 4, [2, 2, 1]],
  [3, 4, [1, 1, 1]],
  [1, 4, [1]],
  [9, 2, [5, 4]],
  [0, 2, []],
] as const) {
  test(`${count} points are cut in ${ways} as ${lengths.join(' + ') || 'nothing'}`, t => {
    const items = Array.from({ length: count }, (_, i) => i)
    const parts = cut(items, ways)
    t.deepEqual(
      parts.map(({ length }) => length),
      [...lengths],
    )
    t.deepEqual(parts.flat(), items)
  })
}

test('a culprit is tried again in the next read, then after five minutes, then after twice as long each time up to an hour', t => {
  const apart: Apart = new Map()
  const rests = Array.from({ length: 7 }, () => {
    accuse(apart, 'a', 'silent', 1000)
    return (apart.get('a')!.retryAt - 1000) / MINUTE
  })
  t.deepEqual(rests, [0, 5, 10, 20, 40, 60, 60])
})

test('a culprit of which one is certain rests at once', t => {
  const apart: Apart = new Map()
  accuse(apart, 'a', 'declined', 1000, true)
  t.deepEqual(apart.get('a'), { reason: 'declined', failures: 2, retryAt: 1000 + 5 * MINUTE })
})

test('without culprits the list of points is passed on as it is', t => {
  const items = ['a', 'b']
  t.is(sortOut(new Map(), items, self, 0).together, items)
  t.is(firstUnreached(new Set(), items, self), items)
})

test('culprits rest until their time, and those that have waited longest are tried again first', t => {
  const apart: Apart = new Map()
  const culprits = ['c', 'b', 'a', 'f', 'e', 'd']
  for (const [i, key] of culprits.entries()) for (const _ of [1, 2]) accuse(apart, key, 'silent', i)
  const items = ['x', ...culprits.toSorted(), 'y']
  const early = sortOut(apart, items, self, 5 * MINUTE - 1)
  t.deepEqual([early.together, early.retried, early.resting], [['x', 'y'], [], culprits])
  const later = sortOut(apart, items, self, 5 * MINUTE + 1)
  t.deepEqual([later.retried, later.resting], [culprits.slice(0, 2), culprits.slice(2)])
  t.deepEqual(sortOut(apart, items, self, HOUR).retried, culprits)
})

test('a culprit is tried at once when the clock was set back by more than it can rest', t => {
  const apart: Apart = new Map()
  for (const _ of [1, 2, 3]) accuse(apart, 'a', 'silent', 48 * HOUR)
  t.deepEqual(sortOut(apart, ['a'], self, 0).retried, ['a'])
})

test('what a read did not reach comes first in the next', t => {
  t.deepEqual(firstUnreached(new Set(['d', 'b']), ['a', 'b', 'c', 'd'], self), ['b', 'd', 'a', 'c'])
})

test('a failure whose parts were all answered is told with the largest part, and those around it are not', t => {
  const whole = failure(80, 2)
  const half = failure(40, 2, whole)
  t.is(endPart(half, 20), undefined)
  t.is(endPart(half, 19), half)
  t.is(half.answered, 20)
  t.is(endPart(whole, 40), undefined)
})

test('a failure that holds a culprit is explained, however its other parts end', t => {
  const whole = failure(80, 4)
  const quarter = failure(20, 2, whole)
  t.is(endPart(quarter, 'culprit'), undefined)
  t.is(endPart(quarter, 10), undefined)
  t.is(endPart(whole, 20), undefined)
  t.is(endPart(whole, 20), undefined)
  t.is(endPart(whole, 20), undefined)
  t.is(whole.open, 0)
})

test('a part that is asked for in two pieces ends with the second', t => {
  const whole = failure(80, 1)
  splitPart(whole)
  t.is(endPart(whole, 40), undefined)
  t.is(endPart(whole, 41), whole)
})

test('a request that is no part of a failure explains nothing', t => t.is(endPart(undefined, 5), undefined))
