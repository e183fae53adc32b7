import test from 'ava'
import { levelMeanings } from '#shared/core/priority/priority-levels.ts'
import { type Slot } from '#shared/core/priority/priority-record.ts'
import { slotSeries, type ArraySnapshot, arraySnapshot } from '#shared/core/priority/array-snapshot.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import { testRule } from '#shared/core/rules/testing/test-rule.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { ahu, ruleOf, START, yamlOf } from '../../../../support/rules/helpers.ts'

const _ = Number.NaN
const EMPTY = null

/** Visits an hour apart; each is what the levels said: 8 and 16 here, the others empty. */
const visits = (seen: [number | null, number | null][], stepMs = HOUR): ArraySnapshot[] =>
  seen.map(([eight, sixteen], i) => {
    const slots = Array.from({ length: 16 }, (_level, k) => (k === 7 ? eight : k === 15 ? sixteen : null))
    const t = START + i * stepMs
    return { t, slots, fallback: 0, date: new Date(t).toISOString().slice(0, 10), overridden: eight !== null }
  })

/** Column, visits, and what it says from each visit to the next. */
const CASES: [string, [number | null, number | null][], number[]][] = [
  [
    'active_slot(damper)',
    [
      [EMPTY, 1],
      [EMPTY, 1],
      [1, 1],
      [1, 1],
      [EMPTY, EMPTY],
      [EMPTY, EMPTY],
    ],
    [16, _, 8, _, 17, _],
  ],
  [
    'active_slot(damper)',
    [
      [_, 1],
      [_, 1],
      [1, 1],
    ],
    [_, _, _],
  ],
  [
    'overridden(damper)',
    [
      [EMPTY, 1],
      [EMPTY, 1],
      [1, 1],
      [0, 1],
      [0, 1],
    ],
    [0, _, 1, 1, _],
  ],
  [
    'slot(damper, 8)',
    [
      [0.5, 1],
      [0.5, 1],
      [0.7, 1],
      [EMPTY, 1],
      [EMPTY, 1],
    ],
    [0.5, _, _, _, _],
  ],
  [
    'commanded(damper, 8)',
    [
      [0.5, 1],
      [0.7, 1],
      [EMPTY, 1],
      [EMPTY, 1],
    ],
    [1, _, 0, _],
  ],
  [
    'command(damper)',
    [
      [0.5, 1],
      [0.5, 1],
      [EMPTY, EMPTY],
      [EMPTY, EMPTY],
    ],
    [0.5, _, 0, _],
  ],
  [
    'asked(damper)',
    [
      [0.5, 1],
      [0.7, 1],
      [0.7, EMPTY],
    ],
    [1, _, _],
  ],
  [
    'writers(damper)',
    [
      [0.5, 1],
      [0.7, 1],
      [0.7, _],
    ],
    [2, _, _],
  ],
  [
    'flips(damper)',
    [
      [EMPTY, 1],
      [1, 1],
      [0, 1],
      [EMPTY, 1],
    ],
    [0, 1, 1, 2],
  ],
  [
    'asked_travel(damper)',
    [
      [0, 0.5],
      [0, 1],
      [0, EMPTY],
      [0, 0.25],
    ],
    [0, 0.5, 0.5, 0.5],
  ],
  [
    'commanded(damper, 8)',
    [
      [_, 1],
      [_, 1],
      [0, 1],
      [0, 1],
      [EMPTY, 1],
      [EMPTY, 1],
    ],
    [_, _, 1, _, 0, _],
  ],
  [
    'writers(damper)',
    [
      [_, 1],
      [_, 1],
      [0, 1],
      [0, 1],
    ],
    [_, _, 2, _],
  ],
  [
    'overridden(damper)',
    [
      [_, 1],
      [_, 1],
    ],
    [_, _],
  ],
  [
    'relinquish_default(damper)',
    [
      [EMPTY, 1],
      [1, 1],
    ],
    [0, _],
  ],
  [
    'override_days(damper)',
    [
      [EMPTY, 1],
      [1, 1],
      [1, 1],
      [EMPTY, 1],
      [1, 1],
      [1, 1],
    ],
    [0, 1, 1, 1, 1, 1],
  ],
]
for (const [column, seen, wanted] of CASES) {
  test(`${column} of ${JSON.stringify(seen)}`, t => {
    const series = slotSeries(column, { damper: visits(seen) })!
    t.deepEqual([...series.values], wanted)
    t.is(series.nominalMs, HOUR)
  })
}

test('a role that nobody visits has no column, and neither has a function that is none', t => {
  t.is(slotSeries('active_slot(damper)', {}), undefined)
  t.is(slotSeries('sa_t', { sa_t: visits([[1, 1]]) }), undefined)
  t.is(slotSeries('active_slot(constructor)', {}), undefined)
})

test('a reading becomes a visit in the unit of the role; a text and an error are no figure', t => {
  const slots = Array.from({ length: 16 }, (_level, i): Slot => ({ level: i + 1, state: 'null' }))
  slots[2] = { level: 3, state: 'error', error: 'unknown-object' }
  slots[7] = { level: 8, state: 'value', type: 'real', value: 50 }
  slots[8] = { level: 9, state: 'value', type: 'boolean', value: true }
  const seen = arraySnapshot(
    { observed_at: START, slots, relinquish_default: 'x' },
    { scale: 0.01, offset: 0 },
    levelMeanings(),
    'UTC',
  )
  t.deepEqual(seen.slots.slice(0, 9), [null, null, _, null, null, null, null, 0.5, 0.01])
  t.is(seen.fallback, _)
  t.true(seen.overridden)
  t.is(seen.date, '2026-03-02')
})

const MISTAKES: [string, RegExp][] = [
  ['slot(sa_t, 17) > 1', /level from 1 to 16/],
  ['slot(sa_t) > 1', /write slot as in slot\(clg_valve, 8\)/],
  ['active_slot(ma_t) > 1', /not declared/],
  ['active_slot > 1', /is a function: active_slot\(clg_valve\)/],
  ['slot(sa_t, 8) > 5 Pa', /cannot compare/],
  ['overridden(sa_t) > sa_t', /cannot compare/],
  ['flips(sa_t, 3) > 1', /needs a window/],
]
for (const [when, message] of MISTAKES) {
  test(`"${when}" is refused`, t => {
    const parsed = parseRule(yamlOf({ when: `"${when}"` }), 'rule.yaml')
    t.regex(parsed.ok ? '' : parsed.errors.map(error => error.message).join('\n'), message)
  })
}

test('without a visit the rule lacks what it reads', t => {
  const rule = ruleOf(yamlOf({ when: 'overridden(sa_t)' }))
  const span = { building_id: 'b', timezone: 'UTC', from: START, to: START + DAY }
  const { results } = runRules({ ...span, rules: [rule], equipment: [ahu({ sa_t: '13x24' }, HOUR)] })
  t.like(results[0], { status: 'not_evaluated', reason: 'missing_role', missing_roles: ['overridden(sa_t)'] })
})

test('a test of a rule writes visits by level, and what is no level is told', t => {
  const wrong = `tests:\n  - { name: one, step: 1h, sa_t: "- 1", slots: { sa_t: { 17: 1x3 }, nothing: { 8: 1 } }, faults: [] }`
  const parsed = parseRule(`${yamlOf({})}\n${wrong}`, 'rule.yaml')
  const said = parsed.ok ? '' : parsed.errors.map(({ message }) => message).join('\n')
  t.regex(said, /17 is no level from 1 to 16/)
  t.regex(said, /nothing is no role/)
  t.regex(said, /rows are written as/)
  const right = `tests:\n  - { name: one, step: 1h, sa_t: 13x3, slots: { sa_t: { 8: 1x3 } }, faults: [00:00-] }`
  t.deepEqual(
    testRule(ruleOf(`${yamlOf({ when: 'overridden(sa_t)' })}\n${right}`)).map(({ problems }) => problems),
    [[]],
  )
})
