import test from 'ava'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readReasons, sourceLines, sourceProblems } from '#scripts/lib/rule-sources.ts'
import { sharedReasons } from '#scripts/rules-readme.ts'
import { ruleFigures } from '#shared/core/rules/check/rule-figures.ts'
import { fileURLToPath } from 'node:url'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { main } from '#scripts/rules.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { ruleOf, yamlOf } from '../support/rules/helpers.ts'

const SHARED = readReasons('settles: "engineering judgement: air and metal are in balance"')
const RULE = {
  roles: '{ sa_t: degC, clg_valve: fraction }',
  params: '{ tolerance: { default: 2, min: 0, max: 5, unit: K } }',
  let: '{ above: "avg(sa_t, 30 m) - lag(sa_t, 13m)" }',
  gate: 'clg_valve >= 0.95 and clg_valve^2 <= 1',
  when: 'above > tolerance + 0 K',
  settle: '30m',
  clear: '0',
  baseline: '{ usual: { of: sa_t, days: 30, min_days: 4, when: "clg_valve > 0.05", fallback: 0 degC } }',
  cause: '{ cooling_valve: { "above > 5 K": 0.6, "above <= 5 K": 0.2 } }',
}
const FIGURES = ['tolerance', '0.95', '30m', '13m', '0.05', '5K', 'settle', 'days', 'min_days', 'cause']

test('figures of a rule are parameters, literals, durations, figures of baselines and weights', t => {
  t.deepEqual(ruleFigures(ruleOf(yamlOf(RULE)).body).toSorted(), FIGURES.toSorted())
})

test('a figure without a source is named, with its rule', t => {
  const sources = `{ "${FIGURES.filter(figure => figure !== '0.95').join(', ')}": settles }`
  const problems = sourceProblems(ruleOf(yamlOf({ ...RULE, sources })), SHARED)
  t.is(problems.length, 1)
  t.regex(problems[0]!, /sources says nothing of 0\.95$/)
})

test('a source is a standard with a number, a physical reason, or the name of a shared one', t => {
  const said = (text: string) =>
    sourceProblems(ruleOf(yamlOf({ ...RULE, sources: `{ "${FIGURES.join(', ')}": "${text}" }` })), SHARED).length
  t.is(said('settles'), 0)
  t.is(said('ASHRAE Guideline 36-2021 5.16.14'), 0)
  t.is(said('engineering judgement: a valve passes nothing there'), 0)
  t.is(said('engineering judgement: usual'), FIGURES.length)
  t.is(said('by experience of the authors'), FIGURES.length)
  t.is(said('no_such_reason'), FIGURES.length)
  t.throws(() => readReasons('poor: because'), { message: /^poor: / })
})

test('a source of a figure that the rule does not have is an error where the rule is loaded', t => {
  const parsed = parseRule(yamlOf({ ...RULE, sources: '{ 0.9: settles }' }), 'rule.yaml')
  t.deepEqual(parsed.ok ? [] : parsed.errors.map(({ message }) => message), ['sources: the rule has no figure 0.9'])
})

test('a rule is explained with its sources, shared ones in full', t => {
  const rule = ruleOf(yamlOf({ ...RULE, sources: '{ settle: settles, tolerance: ASHRAE Guideline 36-2021 5.16.14 }' }))
  t.deepEqual(sourceLines(rule, SHARED), [
    'Source of settle: engineering judgement: air and metal are in balance.',
    'Source of tolerance: ASHRAE Guideline 36-2021 5.16.14.',
  ])
})

test('every figure of the catalogue has a source, and every shared reason is in use', t => {
  const { rules } = loadRules([fileURLToPath(new URL('../../rules', import.meta.url))])
  const reasons = sharedReasons()
  t.deepEqual(
    rules.flatMap(rule => sourceProblems(rule, reasons)),
    [],
  )
  const used = new Set(rules.flatMap(({ body }) => Object.values((body.sources ?? {}) as Record<string, string>)))
  t.deepEqual(
    Object.keys(reasons).filter(name => !used.has(name)),
    [],
  )
})

test('the check of a folder refuses a rule without sources', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'plenum-sources-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const tests = '\ntests:\n  - { name: warm, step: 5m, sa_t: 30x12, status: fault }\n'
  const check = async (keys: Record<string, string>): Promise<[number, string[]]> => {
    writeFileSync(join(folder, 'r.yaml'), `${yamlOf(keys)}${tests}`)
    const lines: string[] = []
    return [await main(['check', folder], line => lines.push(line)), lines]
  }
  t.deepEqual(await check({ when: 'sa_t > 25 degC', sources: '{ 25degC: ASHRAE 55-2020 5.3.1 comfort zone }' }), [
    0,
    ['1 rules checked'],
  ])
  const [code, lines] = await check({ when: 'sa_t > 25 degC' })
  t.is(code, 1)
  t.true(lines[0]!.endsWith('R: sources says nothing of 25degC'), lines.join('\n'))
})
