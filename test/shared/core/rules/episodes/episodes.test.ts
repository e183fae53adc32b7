/** From moments that are true to episodes: persistence, daily minimum, clearing, midnight, what came before the run. */
import test from 'ava'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { type Case, GATED, testCases } from '../../../../support/rules/cases.ts'
import { ahu, ruleOf, run, spans, START, yamlOf } from '../../../../support/rules/helpers.ts'

const CASES: Case[] = [
  // ---- smoothing
  { title: 'smoothing takes the mean over the window', rule: { smooth: '10m' }, rows: { sa_t: '(10 28)x12' }, spans: [] },
  {
    title: 'without smoothing every second sample is a fault',
    rule: {},
    rows: { sa_t: '(10 28)x2 10x4' },
    spans: ['5-10', '15-20'],
  },
  // ---- persistence
  {
    title: 'a stretch as long as the persistence counts',
    rule: { persistence: '30m' },
    rows: { sa_t: '10x2 30x6 10x4' },
    spans: ['10-40'],
  },
  {
    title: 'a shorter stretch does not',
    rule: { persistence: '31m' },
    rows: { sa_t: '10x2 30x6 10x4' },
    spans: [],
    status: 'pass',
  },
  { title: 'a false moment breaks a stretch', rule: { persistence: '30m' }, rows: { sa_t: '30x5 10 30x5 10x4' }, spans: [] },
  {
    title: 'a moment that is not evaluated breaks a stretch',
    rule: { persistence: '30m' },
    rows: { sa_t: '30x5 ? 30x5 10x4' },
    spans: [],
  },
  {
    title: 'persistence may be a parameter',
    rule: { persistence: 'wait', params: '{ wait: { default: 30, min: 0, max: 60, unit: min } }' },
    rows: { sa_t: '30x6 10x4' },
    spans: ['0-30'],
  },
  // ---- daily minimum
  {
    title: 'short stretches add up within a day',
    rule: { daily_minimum: '30m', clear: '60m' },
    rows: { sa_t: '(30x2 10x2)x4 10x16' },
    spans: ['0-70'],
  },
  {
    title: 'too little in a day is no fault',
    rule: { daily_minimum: '45m', clear: '60m' },
    rows: { sa_t: '(30x2 10x2)x4 10x16' },
    spans: [],
  },
  // ---- clearing
  {
    title: 'a short recovery does not end an episode',
    rule: { clear: '30m' },
    rows: { sa_t: '30x3 10x5 30x3 10x9' },
    spans: ['0-55'],
  },
  {
    title: 'false for as long as clear ends it where it began',
    rule: { clear: '30m' },
    rows: { sa_t: '30x3 10x6 30x3 10x9' },
    spans: ['0-15', '45-60'],
  },
  {
    title: 'time that is not evaluated does not end it',
    rule: { clear: '30m' },
    rows: { sa_t: '30x3 10x3 ?x9 10x3 30x3' },
    spans: ['0-15', '90-'],
  },
  {
    title: 'a fault that nothing was evaluated of for less than three days goes on',
    rule: { clear: '30m' },
    rows: { sa_t: '30x3 ?x860 30x3' },
    spans: ['0-'],
  },
  {
    title: 'a fault that nothing was evaluated of for three days ends where it was last evaluated',
    rule: { clear: '30m' },
    rows: { sa_t: '30x3 10x3 30x3 ?x864 30x3' },
    spans: ['0-45', '4365-'],
  },
  {
    title: 'one that was seen false last ends there',
    rule: { clear: '30m' },
    rows: { sa_t: '30x3 10x3 ?x870' },
    spans: ['0-15'],
  },
  { title: 'until clear has passed the fault is active', rule: { clear: '60m' }, rows: { sa_t: '30x3 10x6' }, spans: ['0-'] },
]

testCases(test, CASES)

test('a finding is confirmed at the very instant, also between two samples', t => {
  const rule = ruleOf(yamlOf({ persistence: '47m', daily_minimum: '53m', clear: '60m' }))
  const { findings } = run([rule], [ahu({ sa_t: '10x2 30x22' })], 2 * HOUR)
  t.is(findings[0]!.confirmed_at - START, 63 * MINUTE)
  t.is(findings[0]!.from - START, 10 * MINUTE)
})

test('time in fault counts neither gaps nor gated time', t => {
  const rule = ruleOf(yamlOf({ ...GATED, clear: '6h' }))
  const { findings, results } = run([rule], [ahu({ sa_t: '30x6 ?x6 30x6 10x6', fan_status: '1x12 0x3 1x9' })], 2 * HOUR)
  t.is(findings[0]!.duration_secs, 45 * 60)
  t.is(results[0]!.fault_secs, 45 * 60)
})

test('an episode goes across midnight, and each day counts its own time', t => {
  const rule = ruleOf(yamlOf({ persistence: '60m', cause: '{ coil: 1 }' }))
  const rows = { sa_t: `10x${23 * 12 + 6} 30x12 10x${12 * 23}` }
  const output = run([rule], [ahu(rows)], 2 * DAY)
  t.deepEqual(spans(output), [`${23 * 60 + 30}-${24 * 60 + 30}`])
  t.deepEqual(
    output.days.map(({ date }) => date),
    ['2026-03-02', '2026-03-03'],
  )
})

test('the daily minimum begins anew at midnight of the building', t => {
  const rule = ruleOf(yamlOf({ daily_minimum: '60m', clear: '3h' }))
  const rows = { sa_t: `10x${23 * 12 + 6} 30x12 10x${12 * 23}` }
  t.deepEqual(spans(run([rule], [ahu(rows)], 2 * DAY)), [])
  t.deepEqual(spans(run([rule], [ahu(rows)], 2 * DAY, { timezone: 'America/Chicago' })), [`${23 * 60 + 30}-${24 * 60 + 30}`])
})

for (const [what, date, hours] of [
  ['spring', Date.UTC(2026, 2, 8, 6), 23],
  ['autumn', Date.UTC(2026, 10, 1, 5), 25],
] as const) {
  test(`a day of ${hours} hours in ${what} is one day`, t => {
    const rule = ruleOf(yamlOf({ daily_minimum: `${hours}h`, cause: '{ coil: 1 }' }))
    const plant = [ahu({ sa_t: `30x${26 * 12}` }, 5 * MINUTE, {}, date)]
    const output = run([rule], plant, 0, { from: date, to: date + 26 * HOUR, timezone: 'America/Chicago' })
    t.is(output.findings.length, 1)
    t.is(output.findings[0]!.confirmed_at - date, hours * HOUR)
    t.deepEqual(
      output.days.map(({ date: day }) => day),
      [new Date(date).toISOString().slice(0, 10)],
    )
    const longer = ruleOf(yamlOf({ daily_minimum: `${hours * 60 + 1}m` }))
    t.deepEqual(run([longer], plant, 0, { from: date, to: date + 26 * HOUR, timezone: 'America/Chicago' }).findings, [])
  })
}

test('data before the run serves windows, and an episode that began there is told with its beginning', t => {
  const rule = ruleOf(yamlOf({ when: 'avg(sa_t, 1h) > 20' }))
  const output = run([rule], [ahu({ sa_t: '30x48' })], 0, { from: START + 3 * HOUR, to: START + 4 * HOUR })
  t.deepEqual(spans(output), ['48-'])
  t.is(output.results[0]!.coverage, 1)
  t.is(output.results[0]!.fault_secs, 3600)
})

test('an episode that ended before the run is not told', t => {
  const output = run([ruleOf(yamlOf({}))], [ahu({ sa_t: '30x12 10x36' })], 0, { from: START + 3 * HOUR, to: START + 4 * HOUR })
  t.deepEqual(output.findings, [])
  t.is(output.results[0]!.status, 'pass')
})

test('what an earlier run left open goes on under its own id', t => {
  const rule = ruleOf(yamlOf({ persistence: '30m', clear: '30m' }))
  const whole = [ahu({ sa_t: '30x36 10x12' })]
  const early = run([rule], whole, 0, { from: START, to: START + 2 * HOUR }).findings[0]!
  t.is(early.state, 'active')
  const cut = [ahu({ sa_t: '30x24 10x12' }, 5 * MINUTE, {}, START + HOUR)]
  const carried = [{ ...early, up_to: START + 2 * HOUR }]
  const late = run([rule], cut, 0, { from: START + 2 * HOUR, to: START + 4 * HOUR, carried }).findings[0]!
  t.is(late.finding_id, early.finding_id)
  t.is(late.to! - START, 3 * HOUR)
  t.is(late.duration_secs, 3 * 3600)
  const without = run([rule], cut, 0, { from: START + 2 * HOUR, to: START + 4 * HOUR }).findings[0]!
  t.not(without.finding_id, early.finding_id)
})

test('the same input gives the same ids, another building or equipment gives others', t => {
  const rule = ruleOf(yamlOf({}))
  const id = (more: object, building_id = 'b') =>
    run([rule], [ahu({ sa_t: '30x6' }, 5 * MINUTE, more)], HOUR, { building_id }).findings[0]!.finding_id
  t.is(id({}), id({}))
  t.regex(id({}), /^[0-9a-f]{32}$/)
  t.not(id({}), id({ equipment_id: 'ahu-2' }))
  t.not(id({}), id({}, 'c'))
})

test('a rule that flaps without end fails and says what it lacks', t => {
  const rows = Array.from({ length: 11_000 }, (_, i) => (i % 2 ? 30 : 10)).join(' ')
  const output = run([ruleOf(yamlOf({}))], [ahu({ sa_t: rows }, MINUTE)], 11_000 * MINUTE)
  t.deepEqual(output.findings, [])
  t.regex(output.failed[0]!.error, /50\d\d episodes in 31 days: the rule needs clear/)
})

test('a stray sample of long ago does not make the run long', t => {
  const plant = [ahu({ sa_t: '30x12' })]
  const series = plant[0]!.roles.sa_t!
  const stray = { ...series, ts: Float64Array.of(0, ...series.ts), values: Float64Array.of(20, ...series.values) }
  const output = run([ruleOf(yamlOf({}))], [{ ...plant[0]!, roles: { sa_t: stray } }], HOUR)
  t.deepEqual(spans(output), ['0-'])
})
