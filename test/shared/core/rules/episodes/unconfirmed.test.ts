/** A condition that held too briefly to count says how long it held and how long it has to. */
import test from 'ava'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { ahu, type Rows, ruleOf, run, yamlOf } from '../../../../support/rules/helpers.ts'

const STEP = 5 * MINUTE
const result = (keys: Record<string, string>, rows: Rows, days = 2) =>
  run([ruleOf(yamlOf(keys))], [ahu(rows, STEP)], days * DAY).results[0]!
/** Warm for an hour from 11:00 on the second day. */
const HOUR_OF_WARMTH = { sa_t: '10x420 25x12 10x144' }

test('an hour of a condition that has to hold for two says so, on the day on which it was', t => {
  t.like(result({ persistence: '2h' }, HOUR_OF_WARMTH), {
    status: 'pass',
    episodes: 0,
    unconfirmed: { date: '2026-03-03', short: [{ of: 'persistence', held_secs: 3600, needs_secs: 7200 }] },
  })
  t.deepEqual(result({ persistence: '30m', daily_minimum: '4h' }, HOUR_OF_WARMTH).unconfirmed?.short, [
    { of: 'daily_minimum', held_secs: 3600, needs_secs: 14_400 },
  ])
  t.deepEqual(
    result({ persistence: '2h', daily_minimum: '5h' }, HOUR_OF_WARMTH).unconfirmed?.short.map(({ of }) => of),
    ['persistence', 'daily_minimum'],
  )
})

test('what became a finding, and what never held, say nothing of it', t => {
  t.is(result({ persistence: '30m' }, HOUR_OF_WARMTH).status, 'fault')
  t.is(result({ persistence: '30m' }, HOUR_OF_WARMTH).unconfirmed, undefined)
  t.is(result({ persistence: '2h' }, { sa_t: '10x576' }).unconfirmed, undefined)
})

test('of several days that counts which came nearest, with its longest stretch and all of its time', t => {
  const rows = { sa_t: '10x12 25x4 10x272 25x6 10x6 25x9 10x267' }
  t.deepEqual(result({ persistence: '1h', daily_minimum: '2h' }, rows).unconfirmed, {
    date: '2026-03-03',
    short: [
      { of: 'persistence', held_secs: 2700, needs_secs: 3600 },
      { of: 'daily_minimum', held_secs: 4500, needs_secs: 7200 },
    ],
  })
})

test('a stretch goes on over midnight', t => {
  const { unconfirmed } = result({ persistence: '3h' }, { sa_t: '10x276 25x24 10x276' })
  t.deepEqual(unconfirmed, { date: '2026-03-03', short: [{ of: 'persistence', held_secs: 7200, needs_secs: 10_800 }] })
})

test('minutes are told of only where they are half of what counts', t => {
  t.is(result({ persistence: '1h' }, { sa_t: '10x420 25x2 10x154' }).unconfirmed, undefined)
  t.deepEqual(result({ persistence: '15m' }, { sa_t: '10x420 25x2 10x154' }).unconfirmed?.short, [
    { of: 'persistence', held_secs: 600, needs_secs: 900 },
  ])
})

const RESTLESS = Array.from({ length: 420 }, (_, i) => (i % 2 === 0 ? 12 : 13)).join(' ')
const FLAT = { roles: '{ x: sensor }', when: 'range(x, 24h) <= 0.1 and x > 0', persistence: '60m' }

test('a signal that stood still for an hour where the rule wants a day says both', t => {
  const { status, unconfirmed } = result(FLAT, { sa_t: `${RESTLESS} 12.5x12 ${RESTLESS}` }, 2)
  t.is(status, 'not_evaluated', 'the first day fills the window')
  t.deepEqual(unconfirmed, {
    date: '2026-03-03',
    role: 'sa_t',
    short: [{ of: 'window', held_secs: 3600, needs_secs: 90_000 }],
  })
})

test('half an hour of a day without movement, and stillness where the rest of the condition fails, are nothing', t => {
  t.is(result(FLAT, { sa_t: `${RESTLESS} 12.5x6 ${RESTLESS}` }, 2).unconfirmed, undefined)
  t.is(
    result({ ...FLAT, when: 'range(x, 24h) <= 0.1 and x > 100' }, { sa_t: `${RESTLESS} 12.5x12 ${RESTLESS}` }).unconfirmed,
    undefined,
  )
})

test('a rule that samples come too seldom for says how often they come and have to', t => {
  const { reason, sampling } = result({ sampling: '1m' }, HOUR_OF_WARMTH)
  t.deepEqual([reason, sampling], ['sampling', { every_secs: 300, needs_secs: 60 }])
  t.is(result({ sampling: '5m' }, HOUR_OF_WARMTH).sampling, undefined)
})
