import test from 'ava'
import fc from 'fast-check'
import { backlogCourse } from '#shared/core/telemetry/backlog.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'

const AT = Date.parse('2026-11-20T20:00:00Z')

for (const [rows, rate, course] of [
  [600, null, { state: 'unknown' }],
  [50, 60, { state: 'unknown' }],
  [600, 60, { state: 'falling', per_minute: 60, empty_at: AT + 10 * MINUTE }],
  [600, 0.5, { state: 'falling', per_minute: 0.5, empty_at: AT + 1200 * MINUTE }],
  [1_000_000, 1, { state: 'falling', per_minute: 1, empty_at: null }],
  [600, 0.4, { state: 'level' }],
  [600, -0.4, { state: 'level' }],
  [600, -60, { state: 'growing', per_minute: 60 }],
] as const) {
  test(`${rows} messages that fall by ${rate} a minute are ${course.state}`, t =>
    t.deepEqual(backlogCourse(rows, rate, AT), course))
}

test('an empty outbox is foretold for a time to come, at most 30 days, or for none', t => {
  const number = fc.double({ noNaN: true, noDefaultInfinity: true })
  const property = fc.property(number, number, (rows, rate) => {
    const course = backlogCourse(rows, rate, AT)
    if (course.state !== 'falling' || course.empty_at === null) return true
    return course.empty_at >= AT && course.empty_at <= AT + 30 * DAY
  })
  t.notThrows(() => fc.assert(property))
})
