import test from 'ava'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { ahu, ruleOf, run, yamlOf } from '../../../../support/rules/helpers.ts'

const STEP = 30 * MINUTE
const ROWS = 48
/** Outdoor air swings by `swing` around `mean` in the course of a day; `return` air stays, mixed air has `share` of outdoor air. */
type Weather = { mean: number; swing: number; share?: number; off?: number }

const outdoorAt = ({ mean, swing }: Weather, row: number) => mean + (row % 2 === 0 ? swing : -swing) * (row < ROWS / 2 ? 1 : 0.5)
const text = (values: number[]) => values.join(' ')

const plantOf = (days: Weather[]) => {
  const rows = days.flatMap(day => Array.from({ length: ROWS }, (_, row) => ({ ...day, outdoor: outdoorAt(day, row) })))
  return [
    ahu(
      {
        oa_t: text(rows.map(({ outdoor }) => outdoor)),
        ra_t: `22x${rows.length}`,
        ma_t: text(rows.map(({ outdoor, share = 0.25, off = 0 }) => 22 + share * (outdoor - 22) + off)),
        fan_status: `1x${rows.length}`,
      },
      STEP,
    ),
  ]
}

const RULE = {
  roles: '{ ma_t: degC, ra_t: degC, oa_t: degC }',
  gate: 'fan_on',
  baseline: '{ pull: { of: ma_t - ra_t, on: [oa_t - ra_t], days: 10, min_days: 3, minimum: 2h } }',
  when: 'abs(ma_t - ra_t - base(pull)) > 0.5 K',
  persistence: '60m',
  clear: '60m',
  cause: '{ damper: 1 }',
}
const rule = ruleOf(yamlOf(RULE))
const warm: Weather = { mean: 20, swing: 10 }

test('a quarter of outdoor air is learnt, and expected in other weather within what was seen', t => {
  const calm: Weather[] = [warm, { mean: 12, swing: 8 }, { mean: 26, swing: 4 }]
  const { findings, baselines } = run([rule], plantOf([...calm, { mean: 8, swing: 3 }]), 4 * DAY)
  t.deepEqual(findings, [])
  t.is(baselines[0]!.days_used, 3)
  t.true(Math.abs(baselines[0]!.spread!) < 1e-9)
})

test('half of outdoor air is found in the first hours', t => {
  const days = [warm, warm, warm, { ...warm, share: 0.5 }]
  const { findings } = run([rule], plantOf(days), 4 * DAY)
  t.is(findings.length, 1)
  t.true(findings[0]!.from >= Date.parse('2026-03-05T00:00:00Z'), String(findings[0]!.from))
  t.true(findings[0]!.confirmed_at - findings[0]!.from <= HOUR)
})

test('weather that the past did not have is not judged', t => {
  const { findings } = run([rule], plantOf([warm, warm, warm, { mean: -30, swing: 1, share: 0.9 }]), 4 * DAY)
  t.deepEqual(findings, [])
})

test('a driver that never varied has no factor: the mean is expected', t => {
  const still: Weather = { mean: 10, swing: 0 }
  t.deepEqual(run([rule], plantOf([still, still, still, still]), 4 * DAY).findings, [])
  t.is(run([rule], plantOf([still, still, still, { ...still, off: 1 }]), 4 * DAY).findings.length, 1)
})

test('with too few days the rule is not evaluated', t => {
  const { results } = run([rule], plantOf([warm, warm]), 2 * DAY)
  t.is(results[0]!.status, 'not_evaluated')
  t.is(results[0]!.reason, 'insufficient_history')
})

test('two drivers that move together share the effect and the sum is right', t => {
  const both = ruleOf(yamlOf({ ...RULE, baseline: RULE.baseline.replace('[oa_t - ra_t]', '[oa_t - ra_t, 2 * (oa_t - ra_t)]') }))
  t.deepEqual(run([both], plantOf([warm, warm, warm, { mean: 18, swing: 6 }]), 4 * DAY).findings, [])
})

test('the spread is how much the mean of a day differs from the model', t => {
  const days = [0, 0.4, -0.4, 0.4, -0.4].map(off => ({ ...warm, off }))
  const { baselines } = run([rule], plantOf([...days, warm]), 6 * DAY)
  t.true(Math.abs(baselines[0]!.spread! - 0.4 * 1.4826) < 0.01, String(baselines[0]!.spread))
})

test('a value for each day and a model exclude each other', t => {
  const text = yamlOf({ ...RULE, baseline: '{ pull: { of: ma_t - ra_t, on: [oa_t - ra_t], stat: avg, days: 10, min_days: 3 } }' })
  t.throws(() => ruleOf(text), { message: /has no stat/ })
})
