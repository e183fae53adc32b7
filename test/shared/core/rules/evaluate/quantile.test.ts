import test from 'ava'
import fc from 'fast-check'
import { quantile } from '#shared/core/rules/evaluate/window-operators.ts'
import { quantileOf } from '#shared/core/series/statistics.ts'
import { MINUTE } from '#shared/core/time.ts'

/** Values minute by minute; where there is none, nothing is read. */
const valuesArb = fc.array(fc.oneof({ weight: 6, arbitrary: fc.integer({ min: -4, max: 4 }) }, fc.constant(Number.NaN)), {
  minLength: 1,
  maxLength: 60,
})

test('a sliding quantile is that of the values at the full minutes of its window', t => {
  let slid = 0
  fc.assert(
    fc.property(valuesArb, fc.integer({ min: 1, max: 20 }), fc.constantFrom(0, 0.1, 0.5, 0.9, 1), (values, w, share) => {
      const op = quantile(w * MINUTE, share)
      for (const [i, value] of values.entries()) {
        op.push(i * MINUTE, value)
        if (Number.isNaN(value)) continue
        const seen = Float64Array.from(values.slice(Math.max(0, i - w + 1), i + 1).filter(one => !Number.isNaN(one))).toSorted()
        if (op.read(i * MINUTE) !== quantileOf(seen, seen.length, share)) return false
        if (i >= w) slid++
      }
      return true
    }),
    { numRuns: 2000, seed: 11 },
  )
  t.true(slid > 1000)
})
