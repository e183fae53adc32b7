/** Fitting the weights of causes to faults that are known. */
import test from 'ava'
import fc from 'fast-check'
import {
  ANOTHER,
  firstRight,
  fitFactors,
  isForFitting,
  JUDGED,
  type JudgedFinding,
  logLikelihood,
} from '../../scripts/lib-rightness/cause-fit.ts'

const findingOf = (seed: number, right: string[], weights = { valve: 0.6, sensor: 0.3 }): JudgedFinding => ({
  rule_id: 'R',
  seed,
  weights,
  right,
})
const many = (n: number, right: string[]) => Array.from({ length: n }, (_, seed) => findingOf(seed, right))

test('with many findings the fitted shares are those of what was right, and judgement is forgotten', t => {
  const findings = [...many(200, ['sensor']), ...many(100, ['valve']), ...many(100, [])]
  const factors = fitFactors(findings)
  const after = { valve: 0.6 * factors.get('valve')!, sensor: 0.3 * factors.get('sensor')!, none: 0.1 * factors.get(ANOTHER)! }
  const sum = after.valve + after.sensor + after.none
  t.true(Math.abs(after.sensor / sum - 0.5) < 0.02)
  t.true(Math.abs(after.valve / sum - 0.25) < 0.02)
  t.true(Math.abs(after.none / sum - 0.25) < 0.02)
  t.deepEqual(firstRight(findings, JUDGED), { right: 100, of: 300 })
  t.deepEqual(firstRight(findings, factors), { right: 200, of: 300 })
})

test('a single finding moves the judgement only a little', t => {
  const factors = fitFactors([findingOf(1, ['sensor'])])
  t.true(factors.get('sensor')! > 1)
  t.true(0.6 * factors.get('valve')! > 0.3 * factors.get('sensor')!)
})

test('a component is compared with those that counted beside it', t => {
  const alone = Array.from({ length: 50 }, (_, seed) => findingOf(seed, ['fan'], { fan: 0.3 } as never))
  const beside = many(50, ['valve'])
  const factors = fitFactors([...alone, ...beside])
  t.true(factors.get('fan')! > 1)
  t.true(factors.get('valve')! > factors.get('sensor')!)
})

test('a fit never makes its own findings less likely', t => {
  const rightArb = fc.constantFrom<string[]>(['valve'], ['sensor'], [], ['valve', 'sensor'])
  fc.assert(
    fc.property(fc.array(rightArb, { minLength: 3, maxLength: 40 }), rights => {
      const findings = rights.map((right, seed) => findingOf(seed, right))
      return logLikelihood(findings, fitFactors(findings)) >= logLikelihood(findings, JUDGED) - 1e-9
    }),
  )
  t.true(logLikelihood(many(1, ['sensor']), JUDGED) < logLikelihood(many(1, ['valve']), JUDGED))
})

test('the halves hold every kind of a list that the simulator goes through in turn', t => {
  for (const kinds of [2, 3, 5, 62]) {
    for (let kind = 0; kind < Math.min(kinds, 5); kind++) {
      const seeds = Array.from({ length: 200 }, (_, i) => i * kinds + kind)
      const fitted = seeds.filter(seed => isForFitting({ seed })).length
      t.true(fitted > 70 && fitted < 130, `${fitted} of 200 buildings with kind ${kind} of ${kinds}`)
    }
  }
})
