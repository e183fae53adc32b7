import test from 'ava'
import fc from 'fast-check'
import { HOUR, MINUTE, SECOND } from '#shared/core/time.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import type { RunOutput } from '#shared/core/rules/evaluate/run-types.ts'
import type { EquipmentData, RoleSeries } from '#shared/core/rules/compile/equipment-data.ts'
import { equipment, ruleOf, run, START, yamlOf } from '../../../../support/rules/helpers.ts'

const SPAN = 30 * HOUR
const NOMINAL = 10 * MINUTE
const HOLD = 3 * NOMINAL

const base = { roles: '{ sa_t: degC, ma_t: degC, oa_damper: fraction }', persistence: '20m', clear: '15m' }
/** One rule for every kind of operator, so that each is tried on every signal. */
const RULES: Rule[] = [
  { when: 'sa_t > ma_t + 2 and oa_damper < 0.8' },
  { when: 'avg(sa_t, 47m) > ma_t', smooth: '7m' },
  { when: 'range(sa_t, 1h) > 3 K and max(ma_t, 33m) > 15', gate: 'held(oa_damper > 0.1, 20m)', settle: '13m' },
  { when: 'travel(oa_damper, 2h) > 1 or reversals(oa_damper, 2h, 0.1) >= 2', daily_minimum: '40m' },
  { when: 'duty(sa_t > ma_t, 1h) > 0.4 and since(oa_damper > 0.5) < 50m' },
  { when: 'median(sa_t, 1h) > percentile(ma_t, 1h, 0.3) + 1' },
  { when: 'delta(sa_t, 25m) > 1 K or cusum(sa_t - ma_t, 1 K, 2h) > 2' },
  { when: 'day_median(sa_t - ma_t) > 0 K', gate: 'oa_damper >= 0.2', daily_minimum: '30m' },
  { when: 'count(sa_t > 18, 4h) >= 2 and starts(oa_damper > 0.5, 4h) >= 1 and changes(ma_t, 2h) > 1' },
  { when: 'coverage(sa_t, 2h) < 0.7' },
].map((keys, index) => ruleOf(yamlOf({ ...base, ...keys, id: `R${index}` })))

type Sample = { t: number; value: number }
const value = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 10, max: 24 }) },
  { weight: 1, arbitrary: fc.constant(Number.NaN) },
)
const gap = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 40 }).map(minutes => minutes * MINUTE) },
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 3000 }).map(seconds => seconds * SECOND) },
)
const signal = (scale: number) =>
  fc.array(fc.record({ gap, value }), { minLength: 5, maxLength: 80 }).map(steps => {
    let t = START
    return steps.flatMap(({ gap: ms, value: v }): Sample[] => {
      t += ms
      return t < START + SPAN ? [{ t, value: v * scale }] : []
    })
  })
const plantOf = fc.record({ sa_t: signal(1), ma_t: signal(1), oa_damper: signal(1 / 24) })
type Plant = { sa_t: Sample[]; ma_t: Sample[]; oa_damper: Sample[] }

const series = (samples: Sample[]): RoleSeries => ({
  point_id: 'p',
  nominalMs: NOMINAL,
  ts: Float64Array.from(samples, ({ t }) => t),
  values: Float64Array.from(samples, ({ value: v }) => v),
})
const unit = (
  plant: Plant,
  change: (samples: Sample[]) => Sample[] = samples => samples,
  more: Record<string, RoleSeries> = {},
): EquipmentData[] => [
  equipment({ ...Object.fromEntries(Object.entries(plant).map(([role, samples]) => [role, series(change(samples))])), ...more }),
]
const all = (plant: EquipmentData[], from = START, to = START + SPAN, rules = RULES): RunOutput =>
  run(rules, plant, 0, { from, to })

/** The same step function with more samples: a held value is said again at a share of its hold. */
const denser =
  (shares: number[]) =>
  (samples: Sample[]): Sample[] =>
    samples.flatMap((sample, index) => {
      const next = samples[index + 1]
      const share = shares[index % shares.length]!
      const at = next && Math.floor(sample.t + (next.t - sample.t) * share)
      return next && at !== undefined && at > sample.t && next.t - sample.t <= HOLD
        ? [sample, { t: at, value: sample.value }]
        : [sample]
    })

/** Shrinking a building's day takes longer than reading it. */
const options = { numRuns: 150, endOnFailure: true }

test('the order in which samples came changes nothing', t => {
  fc.assert(
    fc.property(plantOf, fc.infiniteStream(fc.nat(1000)), (plant, ranks) => {
      const shuffled = (samples: Sample[]) =>
        samples
          .map(sample => ({ sample, rank: ranks.next().value as number }))
          .toSorted((a, b) => a.rank - b.rank)
          .map(({ sample }) => sample)
      t.deepEqual(all(unit(plant, shuffled)), all(unit(plant)))
    }),
    options,
  )
})

test('duplicated samples change nothing', t => {
  fc.assert(
    fc.property(plantOf, fc.integer({ min: 1, max: 7 }), (plant, every) => {
      const doubled = (samples: Sample[]) =>
        samples.flatMap((sample, index) => (index % every === 0 ? [sample, sample] : [sample]))
      t.deepEqual(all(unit(plant, doubled)), all(unit(plant)))
    }),
    options,
  )
})

test('the same signal sampled more often gives the same findings', t => {
  const share = fc.double({ min: 0.01, max: 0.99, noNaN: true })
  fc.assert(
    fc.property(plantOf, fc.array(share, { minLength: 1, maxLength: 5 }), (plant, shares) => {
      t.deepEqual(all(unit(plant, denser(shares))), all(unit(plant)))
    }),
    options,
  )
})

test('a sample at every full minute says the same as one at every half', t => {
  const minutes = fc
    .array(fc.record({ value, length: fc.integer({ min: 1, max: 90 }) }), { minLength: 20, maxLength: 60 })
    .map(runs =>
      runs
        .flatMap(({ value: v, length }) => Array.from({ length }, () => v))
        .map((v, i): Sample => ({ t: START + i * MINUTE, value: v })),
    )
  const plant = fc.record({
    sa_t: minutes,
    ma_t: minutes,
    oa_damper: minutes.map(samples => samples.map(({ t: at, value: v }) => ({ t: at, value: v / 24 }))),
  })
  fc.assert(
    fc.property(plant, signals => {
      t.deepEqual(all(unit(signals, denser([0.5]))), all(unit(signals)))
    }),
    { ...options, numRuns: 40 },
  )
})

test('what another role does between the minutes changes nothing', t => {
  fc.assert(
    fc.property(plantOf, signal(1), (plant, other) => {
      const watching = ruleOf(yamlOf({ id: 'Z', roles: '{ ra_t: degC }', when: 'ra_t > 100 degF' }))
      const alone = all(unit(plant)).findings
      const beside = all(
        unit(plant, samples => samples, { ra_t: series(other) }),
        START,
        START + SPAN,
        [...RULES, watching],
      ).findings
      t.deepEqual(
        beside.filter(({ rule_id }) => rule_id !== 'Z'),
        alone,
      )
    }),
    options,
  )
})

test('a run until now finds what a later run finds to have been confirmed by now', t => {
  const causal = RULES.filter(({ program }) => !program.expression.includes('day_median'))
  fc.assert(
    fc.property(plantOf, fc.integer({ min: 60, max: 29 * 60 }), (plant, minutes) => {
      const now = START + minutes * MINUTE
      const names = ({ findings }: RunOutput) =>
        findings
          .filter(({ confirmed_at }) => confirmed_at < now)
          .map(({ finding_id, confirmed_at }) => ({ finding_id, confirmed_at }))
      t.deepEqual(names(all(unit(plant), START, now, causal)), names(all(unit(plant), START, START + SPAN, causal)))
    }),
    options,
  )
})

test('one rule alone says what it says among others', t => {
  fc.assert(
    fc.property(plantOf, fc.nat(RULES.length - 1), (plant, index) => {
      const rule = RULES[index]!
      const together = all(unit(plant)).findings.filter(({ rule_id }) => rule_id === rule.id)
      t.deepEqual(all(unit(plant), START, START + SPAN, [rule]).findings, together)
    }),
    options,
  )
})

test('the signals that these properties try do raise findings', t => {
  const found = new Set<string>()
  for (const plant of fc.sample(plantOf, { numRuns: 40, seed: 1 })) {
    for (const { rule_id } of all(unit(plant)).findings) found.add(rule_id)
  }
  t.deepEqual(
    [...found].toSorted(),
    RULES.map(({ id }) => id),
  )
})
