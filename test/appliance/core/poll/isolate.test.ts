/** Isolation of bad points, independent of any bus. */
import test from 'ava'
import {
  isolate,
  type IsolatedItems,
  splitEvenly,
  endPart,
  createFailure,
  unreachedFirst,
  planRetries,
  splitPart,
} from '#appliance/core/poll/isolate.ts'
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
  test(`${count} points are split into ${ways} as ${lengths.join(' + ') || 'nothing'}`, t => {
    const items = Array.from({ length: count }, (_, i) => i)
    const parts = splitEvenly(items, ways)
    t.deepEqual(
      parts.map(({ length }) => length),
      [...lengths],
    )
    t.deepEqual(parts.flat(), items)
  })
}

test('a bad point is tried again in the next read, then after five minutes, doubling up to an hour', t => {
  const isolated: IsolatedItems = new Map()
  const rests = Array.from({ length: 7 }, () => {
    isolate(isolated, 'a', 'silent', 1000)
    return (isolated.get('a')!.retryAt - 1000) / MINUTE
  })
  t.deepEqual(rests, [0, 5, 10, 20, 40, 60, 60])
})

test('a bad point rests at once when the failure is certain', t => {
  const isolated: IsolatedItems = new Map()
  isolate(isolated, 'a', 'declined', 1000, true)
  t.deepEqual(isolated.get('a'), { reason: 'declined', failures: 2, retryAt: 1000 + 5 * MINUTE })
})

test('without isolated points the list of points is returned unchanged', t => {
  const items = ['a', 'b']
  t.is(planRetries(new Map(), items, self, 0).together, items)
  t.is(unreachedFirst(new Set(), items, self), items)
})

test('isolated points rest until they are due, and the longest waiting are tried first', t => {
  const isolated: IsolatedItems = new Map()
  const culprits = ['c', 'b', 'a', 'f', 'e', 'd']
  for (const [i, key] of culprits.entries()) for (const _ of [1, 2]) isolate(isolated, key, 'silent', i)
  const items = ['x', ...culprits.toSorted(), 'y']
  const early = planRetries(isolated, items, self, 5 * MINUTE - 1)
  t.deepEqual([early.together, early.retried, early.resting], [['x', 'y'], [], culprits])
  const later = planRetries(isolated, items, self, 5 * MINUTE + 1)
  t.deepEqual([later.retried, later.resting], [culprits.slice(0, 2), culprits.slice(2)])
  t.deepEqual(planRetries(isolated, items, self, HOUR).retried, culprits)
})

test('an isolated point is tried at once when the clock was set back by more than the longest pause', t => {
  const isolated: IsolatedItems = new Map()
  for (const _ of [1, 2, 3]) isolate(isolated, 'a', 'silent', 48 * HOUR)
  t.deepEqual(planRetries(isolated, ['a'], self, 0).retried, ['a'])
})

test('points that a read did not reach come first in the next', t => {
  t.deepEqual(unreachedFirst(new Set(['d', 'b']), ['a', 'b', 'c', 'd'], self), ['b', 'd', 'a', 'c'])
})

test('a failure whose parts were all answered is returned once, with its largest answered part', t => {
  const whole = createFailure(80, 2)
  const half = createFailure(40, 2, whole)
  t.is(endPart(half, 20), undefined)
  t.is(endPart(half, 19), half)
  t.is(half.answered, 20)
  t.is(endPart(whole, 40), undefined)
})

test('a failure with a bad point is explained, however its other parts end', t => {
  const whole = createFailure(80, 4)
  const quarter = createFailure(20, 2, whole)
  t.is(endPart(quarter, 'culprit'), undefined)
  t.is(endPart(quarter, 10), undefined)
  t.is(endPart(whole, 20), undefined)
  t.is(endPart(whole, 20), undefined)
  t.is(endPart(whole, 20), undefined)
  t.is(whole.open, 0)
})

test('a part that is requested in two pieces ends with the second', t => {
  const whole = createFailure(80, 1)
  splitPart(whole)
  t.is(endPart(whole, 40), undefined)
  t.is(endPart(whole, 41), whole)
})

test('a request that is no part of a failure returns no failure', t => t.is(endPart(undefined, 5), undefined))
