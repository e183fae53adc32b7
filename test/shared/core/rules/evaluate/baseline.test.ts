import test from 'ava'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { ahu, ruleOf, run, type Rows, START, yamlOf } from '../../../../support/rules/helpers.ts'

const STEP = 30 * MINUTE
/** A day of half-hours in which the fan runs from 8 to 16 and supply air is `rise` above mixed air then. */
const day = (rise: number | string) => ({
  sa_t: `10x16 ${typeof rise === 'number' ? `${20 + rise}x16` : rise} 10x16`,
  fan: '0x16 1x16 0x16',
})
const plantOf = (rises: (number | string)[]) => {
  const days = rises.map(day)
  const rows: Rows = {
    sa_t: days.map(d => d.sa_t).join(' '),
    ma_t: `20x${48 * rises.length}`,
    fan_status: days.map(d => d.fan).join(' '),
  }
  return [ahu(rows, STEP)]
}

const RULE = {
  roles: '{ sa_t: degC, ma_t: degC }',
  gate: 'fan_on',
  params: '{ tol: { default: 1, min: 0, max: 9, unit: K } }',
  baseline: '{ rise: { of: sa_t - ma_t, days: 10, min_days: 3, fallback: 0.5 K, tolerance_cold: 4 K } }',
  when: 'abs(sa_t - ma_t - base(rise)) > tolerance(rise, tol)',
  persistence: '60m',
  clear: '60m',
  cause: '{ coil: 1 }',
}
const rule = ruleOf(yamlOf(RULE))
/** The fallback while it has too few days, and how it is read. */
const BASIS = { min_days: 3, unit: 'K', absolute: false, fallback: 0.5, tolerance_cold: 4 }
const dates = (count: number, first = 2) =>
  Array.from({ length: count }, (_, i) => `2026-03-${String(first + i).padStart(2, '0')}`)

test('a baseline is the median of past days, with its spread and dates', t => {
  const { baselines } = run([rule], plantOf([2, 2.5, 2, 2.5, 2]), 5 * DAY)
  t.deepEqual(baselines, [
    {
      rule_id: 'R',
      equipment_id: 'ahu-1',
      name: 'rise',
      value: 2.25,
      spread: 0.25 * 1.4826,
      days_used: 4,
      dates: dates(4),
      left_out: [],
      cold: false,
      ...BASIS,
    },
  ])
})

test('until there are enough days the fallback and the wider tolerance count', t => {
  t.deepEqual(run([rule], plantOf([4.4]), DAY).findings, [])
  const { findings } = run([rule], plantOf([4.6]), DAY)
  t.is(findings.length, 1)
  t.deepEqual(findings[0]!.evidence.baselines, [
    { name: 'rise', value: 0.5, spread: null, days_used: 0, dates: [], left_out: [], cold: true, ...BASIS },
  ])
})

test('without a fallback a cold baseline is not evaluated', t => {
  const bare = ruleOf(yamlOf({ ...RULE, baseline: '{ rise: { of: sa_t - ma_t, days: 10, min_days: 3 } }' }))
  const { findings, results } = run([bare], plantOf([9, 9, 9]), 3 * DAY)
  t.deepEqual(findings, [])
  t.like(results[0], { status: 'not_evaluated', reason: 'insufficient_history' })
})

test('a warm baseline finds what the fallback would have let pass', t => {
  const { days } = run([rule], plantOf([2, 2, 2, 3.5, 2]), 5 * DAY)
  t.deepEqual(
    days.map(({ date }) => date),
    ['2026-03-05'],
  )
})

test('a day never sees itself', t => {
  const shrunk = ruleOf(yamlOf({ ...RULE, baseline: '{ rise: { of: sa_t - ma_t, days: 1, min_days: 1 } }' }))
  const { days } = run([shrunk], plantOf([2, 5]), 2 * DAY)
  t.deepEqual(
    days.map(({ date }) => date),
    ['2026-03-03'],
  )
})

test('days on which the rule was active are left out and named', t => {
  const { baselines, days } = run([rule], plantOf([2, 2, 2, 6, 6, 6, 2]), 7 * DAY)
  t.deepEqual(
    days.map(({ date }) => date),
    dates(3, 5),
  )
  t.is(baselines[0]!.value, 2)
  t.deepEqual(baselines[0]!.dates, dates(3))
  t.deepEqual(
    baselines[0]!.left_out,
    dates(3, 5).map(date => ({ date, why: 'R' })),
  )
})

test('days on which a sensor rule upstream was active are left out', t => {
  const sensor = ruleOf(
    yamlOf({
      id: 'SEN',
      kind: 'sensor',
      equipment: '[any]',
      roles: '{ x: any }',
      raw: 'true',
      when: 'x > highest(x)',
      suppresses: '[readers]',
    }),
  )
  const { baselines } = run([rule, sensor], plantOf([2, 2, '22x8 200x8', 2, 2]), 5 * DAY)
  t.deepEqual(baselines[0]!.left_out, [{ date: '2026-03-04', why: 'SEN' }])
})

test('days on which a rule was active that silences the readers of a role are left out where the role is read', t => {
  const swapped = (role: string) =>
    ruleOf(
      yamlOf({
        id: 'SWAP',
        kind: 'data',
        roles: '{ sa_t: degC, ma_t: degC }',
        optional: '{ fan_cmd: bool }',
        when: 'sa_t > ma_t + 2.2 K',
        suppresses: `[readers(${role})]`,
      }),
    )
  const leftOut = (role: string) =>
    run([rule, swapped(role)], plantOf([2, 2, 2.5, 2, 2]), 5 * DAY).baselines.find(each => each.rule_id === 'R')!.left_out
  t.deepEqual(leftOut('sa_t'), [{ date: '2026-03-04', why: 'SWAP' }])
  t.deepEqual(leftOut('fan_cmd'), [])
})

test('a day with too little to see does not count', t => {
  const long = ruleOf(yamlOf({ ...RULE, baseline: '{ rise: { of: sa_t - ma_t, days: 10, min_days: 1, minimum: 9h } }' }))
  t.is(run([long], plantOf([2, 2]), 2 * DAY).baselines[0]!.days_used, 0)
})

test('days that are too long ago do not count', t => {
  const short = ruleOf(yamlOf({ ...RULE, baseline: '{ rise: { of: sa_t - ma_t, days: 2, min_days: 1 } }' }))
  t.deepEqual(run([short], plantOf([2, 2, 2, 2]), 4 * DAY).baselines[0]!.dates, dates(2, 3))
})

test('a baseline has its own condition and its own statistic', t => {
  const other = ruleOf(
    yamlOf({
      ...RULE,
      baseline: '{ rise: { of: sa_t - ma_t, when: "sa_t < 15", stat: avg, days: 10, min_days: 1 } }',
      when: 'base(rise) > 0',
    }),
  )
  t.is(run([other], plantOf([2, 2]), 2 * DAY).baselines[0]!.value, -10)
})

test('the median of a day speaks from the daily minimum on, with the whole day in view', t => {
  const daily = ruleOf(
    yamlOf({ ...RULE, baseline: '{}', when: 'day_median(sa_t - ma_t) > 3', daily_minimum: '2h', persistence: '0', clear: '30m' }),
  )
  const at = (rows: string) => run([daily], [ahu({ sa_t: rows, ma_t: '20x48', fan_status: '0x16 1x16 0x16' }, STEP)], DAY)
  const { findings } = at('20x16 21x6 25x10 20x16')
  t.deepEqual(
    findings.map(({ from, to, confirmed_at }) => [from - START, to, confirmed_at - START]),
    [[10 * 60 * MINUTE, null, 10 * 60 * MINUTE]],
  )
  t.is(findings[0]!.duration_secs, 6 * 3600)
  t.deepEqual(at('20x16 25x6 21x10 20x16').findings, [])
})

test("the median of today's day is that of the day so far, and keeps its start when the day is over", t => {
  const daily = ruleOf(
    yamlOf({ ...RULE, baseline: '{}', when: 'day_median(sa_t - ma_t) > 3', daily_minimum: '2h', persistence: '0' }),
  )
  const plant = [ahu({ sa_t: '20x16 25x16 20x16', ma_t: '20x48', fan_status: '0x16 1x16 0x16' }, STEP)]
  const noon = run([daily], plant, 12 * 60 * MINUTE).findings
  const night = run([daily], plant, DAY).findings
  t.is(noon.length, 1)
  t.is(noon[0]!.finding_id, night[0]!.finding_id)
})

test('after a reset no earlier day counts, and the days before keep the baseline that they had', t => {
  const at = START + 3 * DAY + 10 * HOUR
  const more = { resets: [{ rule_id: 'R', equipment_id: 'ahu-1', name: 'rise', at }] }
  const { baselines, findings } = run([rule], plantOf([2, 2, 2, 2, 2, 5.5]), 6 * DAY, more)
  t.like(baselines[0], { cold: true, dates: ['2026-03-06'], value: 0.5 })
  t.deepEqual(
    baselines[0]!.left_out,
    dates(4).map(date => ({ date, why: 'reset' })),
  )
  t.deepEqual(
    findings.map(({ from, evidence }) => [from, evidence.baselines![0]!.cold]),
    [[START + 5 * DAY + 8 * HOUR, true]],
    'cold: 5.5 K is 5 K from the fallback, beyond the wider tolerance',
  )
  const before = run([rule], plantOf([2, 2, 2]), 3 * DAY)
  t.deepEqual(run([rule], plantOf([2, 2, 2]), 3 * DAY, more), before)
})

test('a reset of another rule, equipment or baseline changes nothing', t => {
  const plant = plantOf([2, 2, 2, 2, 2])
  const one = { rule_id: 'R', equipment_id: 'ahu-1', name: 'rise', at: START + DAY }
  const others = [{ rule_id: 'S' }, { equipment_id: 'ahu-2' }, { name: 'fall' }, { role: 'sa_t' }].map(other => ({
    ...one,
    ...other,
  }))
  t.deepEqual(run([rule], plant, 5 * DAY, { resets: others }), run([rule], plant, 5 * DAY))
})
