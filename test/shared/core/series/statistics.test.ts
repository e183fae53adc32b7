import test from 'ava'
import { medianGap, reportingGap } from '#shared/core/series/statistics.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'

/** Instants from gaps in minutes. */
const at = (...gaps: number[]): Float64Array => {
  let t = 0
  return Float64Array.from([0, ...gaps], gap => (t += gap * MINUTE))
}
const many = (count: number, ...gaps: number[]) => Array.from({ length: count }, () => gaps).flat()

test('a point that is polled reports at its usual interval, whatever it lost', t => {
  t.is(reportingGap(at(...many(600, 5))), 5 * MINUTE)
  t.is(reportingGap(at(...many(300, 5), (7 * DAY) / MINUTE, ...many(300, 5))), 5 * MINUTE)
  t.is(reportingGap(at(...many(400, 5), 240, ...many(100, 5), 600)), 5 * MINUTE)
})

test('a point that reports changes alone reports again when it repeats a value that stands still', t => {
  const days = at(...many(10, ...many(700, 1), ...many(24, 30)))
  t.is(medianGap(days), MINUTE)
  t.is(reportingGap(days), 30 * MINUTE)
})

test('a value that repeats within a few usual intervals is as good as polled', t => {
  t.is(reportingGap(at(...many(300, 5, 10))), 10 * MINUTE)
  t.is(reportingGap(at(...many(300, 5, 5, 12))), 5 * MINUTE)
})

test('no repetition is expected to take longer than an hour, and a slower point keeps its interval', t => {
  t.is(reportingGap(at(...many(10, ...many(50, 1), ...many(5, 600)))), HOUR)
  t.is(reportingGap(at(...many(10, 120))), 2 * HOUR)
})

test('few samples say nothing', t => {
  t.is(reportingGap(at()), 5 * MINUTE)
  t.is(reportingGap(at(1)), MINUTE)
})
