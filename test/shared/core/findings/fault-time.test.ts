/** Times at which a fault's condition was true: what is stored, and what is reported for a part of them. */
import test from 'ava'
import fc from 'fast-check'
import { addStretch, STRETCHES_MAX, stretchesOf, stretchesWithin, trueMsOf } from '#shared/core/findings/fault-time.ts'
import { type FaultStretch } from '#shared/core/findings/finding.ts'

const gathered = (stretches: readonly FaultStretch[]): FaultStretch[] => {
  const kept: FaultStretch[] = []
  for (const one of stretches) addStretch(kept, one)
  return kept
}

test('what touches is one stretch, and what lasts no time is none', t => {
  const touching = gathered([
    [0, 10, 10],
    [10, 20, 10],
    [30, 30, 0],
    [40, 50, 10],
  ])
  t.deepEqual(touching, [
    [0, 20, 20],
    [40, 50, 10],
  ])
})

test('of too many stretches the nearest become one, and no time in fault is lost or made', t => {
  const lengths = fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 })), { maxLength: 300 })
  fc.assert(
    fc.property(lengths, pairs => {
      let at = 0
      const given = pairs.map(([pause, lasts]): FaultStretch => {
        at += pause + lasts
        return [at - lasts, at, lasts]
      })
      const kept = gathered(given)
      t.is(trueMsOf(kept), trueMsOf(given))
      t.is(kept.length, Math.min(given.length, STRETCHES_MAX))
      t.deepEqual([kept[0]?.[0], kept.at(-1)?.[1]], [given[0]?.[0], given.at(-1)?.[1]])
      t.true(kept.every(([from, to, trueMs], i) => trueMs <= to - from && (i === 0 || kept[i - 1]![1] < from)))
    }),
  )
  const apart = Array.from({ length: STRETCHES_MAX }, (_, i): FaultStretch => [i * 100, i * 100 + 10, 10])
  const near: FaultStretch = [STRETCHES_MAX * 100 - 60, STRETCHES_MAX * 100 - 50, 10]
  t.deepEqual(gathered([...apart, near]).at(-1), [STRETCHES_MAX * 100 - 100, STRETCHES_MAX * 100 - 50, 20])
})

test('a part of the time holds its share, of a joined stretch in proportion', t => {
  const stretches: FaultStretch[] = [
    [0, 100, 100],
    [200, 300, 50],
  ]
  t.deepEqual(stretchesWithin(stretches, 50, 250), [
    [50, 100, 50],
    [200, 250, 25],
  ])
  t.deepEqual(stretchesWithin(stretches, 100, 200), [])
})

test('a finding that does not say when, was in fault for its duration at some time in its episode', t => {
  t.deepEqual(stretchesOf({ from: 1000, to: 5000, duration_secs: 3 }, 9000), [[1000, 5000, 3000]])
  t.deepEqual(stretchesOf({ from: 1000, to: null, duration_secs: 30 }, 9000), [[1000, 9000, 8000]])
})
