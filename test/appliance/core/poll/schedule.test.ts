import test from 'ava'
import fc from 'fast-check'
import {
  closedBreaker,
  tripBreaker,
  advance,
  type Due,
  earliest,
  planGroups,
  resume,
  startDue,
} from '#appliance/core/poll/schedule.ts'
import { MINUTE, SECOND } from '#shared/core/time.ts'

const device = (device_id: string, ...secs: number[]) => ({
  device_id,
  enabled: true,
  points: secs.map((poll_secs, i) => ({ point_id: `${device_id}.${i}`, poll_secs })),
})

test('devices that stand together in the list, as those of a trunk do, are asked far apart', t => {
  for (const count of [100, 127, 360, 1000]) {
    const phases = planGroups(Array.from({ length: count }, (_, i) => device(`d${i}`, 60))).map(({ phaseMs }) => phaseMs)
    t.is(new Set(phases).size, count)
    for (let first = 0; first + 20 <= count; first++) {
      const trunk = phases.slice(first, first + 20).toSorted((a, b) => a - b)
      const gaps = trunk.map((at, i) => (trunk[i + 1] ?? trunk[0]! + MINUTE) - at)
      t.true(Math.min(...gaps) >= SECOND / 2, `20 of ${count} from ${first} on`)
    }
  }
})

test('points of a device with one period are read together', t => {
  const groups = planGroups([device('a', 60, 60, 300), { ...device('off', 60), enabled: false }, device('b', 60)])
  t.deepEqual(
    groups.map(({ device_id, point_ids, periodMs, phaseMs }) => [device_id, point_ids, periodMs, phaseMs]),
    [
      ['a', ['a.0', 'a.1'], 60_000, 0],
      ['a', ['a.2'], 300_000, 0],
      ['b', ['b.0'], 60_000, 30_000],
    ],
  )
})

test('the groups of a period are spread evenly over it', t => {
  const groups = planGroups(Array.from({ length: 120 }, (_, i) => device(`d${i}`, 60)))
  const perSecond = Map.groupBy(groups, ({ phaseMs }) => Math.floor(phaseMs / SECOND))
  t.is(perSecond.size, 60)
  t.true([...perSecond.values()].every(({ length }) => length === 2))
  const first = startDue(groups, 1_000_000)
  t.true(
    first.every(({ at }) => at >= 1_000_000 && at < 1_010_000),
    'all are read soon after a start',
  )
})

const group = { device_id: 'a', point_ids: ['x'], periodMs: MINUTE, phaseMs: 5 * SECOND }
const at = (minute: number, second: number) => minute * MINUTE + second * SECOND
for (const [name, due, now, next, late] of [
  ['ends in time', at(10, 5), at(10, 6), at(11, 5), 0],
  ['ends a moment before the next', at(10, 5), at(11, 4), at(11, 5), 0],
  ['ends when the next is due', at(10, 5), at(11, 5), at(12, 5), 1],
  ['takes two periods and a half', at(10, 5), at(12, 35), at(13, 5), 2],
  ['began off the grid, after a start', at(10, 17), at(10, 18), at(11, 5), 0],
  ['began right before the grid, after a start', at(10, 4), at(10, 6), at(11, 5), 0],
  ['began off the grid and takes two periods', at(10, 4), at(12, 6), at(13, 5), 2],
  ['was woken a millisecond early', at(10, 5), at(10, 5) - 1, at(11, 5), 0],
  ['ends after the clock was set back an hour', at(70, 5), at(10, 6), at(11, 5), 0],
] as const) {
  test(`after a poll that ${name} the next is due on its grid`, t => {
    const done: Due = { group, at: due }
    const { dues, late: skipped } = advance([done], done, now)
    t.deepEqual([dues[0]!.at, skipped], [next, late])
  })
}

test('when the clock is set back, groups that wait come along', t => {
  const slow = { group: { ...group, periodMs: 5 * MINUTE }, at: at(75, 5) }
  const done = { group, at: at(70, 5) }
  const { dues } = advance([done, slow], done, at(10, 6))
  t.true(dues[1]!.at <= at(15, 6))
})

test('due times never drift: however long polls take, each falls on the grid', t => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 400 * SECOND }), { maxLength: 50 }), durations => {
      let due: Due = { group, at: at(10, 5) }
      let skipped = 0
      let now = due.at
      for (const duration of durations) {
        now = Math.max(now, due.at) + duration
        const next = advance([due], due, now)
        due = next.dues[0]!
        skipped += next.late
        t.is((due.at - group.phaseMs) % group.periodMs, 0)
        t.true(due.at > now && due.at - now <= group.periodMs)
      }
      t.is(due.at, at(10, 5) + (durations.length + skipped) * group.periodMs)
    }),
  )
})

test('after a device was away, what passed is due at once and nothing counts as late', t => {
  const dues = resume(
    [
      { group, at: at(10, 5) },
      { group, at: at(40, 5) },
    ],
    at(30, 0),
  )
  t.deepEqual(
    dues.map(due => due.at),
    [at(30, 0), at(40, 5)],
  )
  t.is(earliest(dues)?.at, at(30, 0))
  t.is(earliest([]), undefined)
})

test('a dead device is tried after 5, 10, 20, 40 and then every 60 seconds', t => {
  let breaker = closedBreaker(0)
  const pauses = Array.from({ length: 6 }, () => {
    breaker = tripBreaker(breaker, 1000)
    return (breaker.retryAt! - 1000) / SECOND
  })
  t.deepEqual(pauses, [5, 10, 20, 40, 60, 60])
  t.is(breaker.since, 1000)
})
