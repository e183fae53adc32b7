import test from 'ava'
import { earliestChange, type ArraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { HOUR, MINUTE } from '#shared/core/time.ts'

const T = Date.UTC(2026, 2, 1)
const at = (...hours: number[]): ArraySnapshot[] =>
  hours.map(hour => ({ t: T + hour * HOUR, slots: [], fallback: 0, date: '2026-03-01', overridden: false }))

test('visits since an instant open the time from the visit before the first of them on', t => {
  t.is(earliestChange({}, T), Infinity)
  t.is(earliestChange({ p: at(1, 2, 3), q: at(0, 1) }, T + 5 * HOUR), Infinity, 'nothing came')
  t.is(earliestChange({ p: at(1, 2, 6, 7), q: at(0, 1) }, T + 5 * HOUR), T + 2 * HOUR)
  t.is(earliestChange({ p: at(1, 2, 6, 7), q: at(1, 6) }, T + 5 * HOUR), T + HOUR, 'the earliest of all points')
  t.is(earliestChange({ p: at(6, 7) }, T + 5 * HOUR), T + 6 * HOUR, 'a point that was never visited before')
  t.is(earliestChange({ p: at(1, 5) }, T + 5 * HOUR + 5 * MINUTE), T + HOUR, 'one that came to the journal late')
})
