import test from 'ava'
import { readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadRules } from '#shared/node/rules/rule-files.ts'
import { editsOf, mutantsOf } from '#scripts/lib/mutants.ts'
import { judge, readSpared, type Tried, tryMutants } from '#scripts/lib/mutation.ts'
import { ruleOf, yamlOf } from '../support/rules/helpers.ts'

const fileAt = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const { rules } = loadRules([fileAt('rules')])
const spared = readSpared(readFileSync(fileAt('scripts/catalogue/survivors.yaml'), 'utf8'))
/** One mutant in so many is tried here; `scripts/rules mutate` tries all. */
const SAMPLE = 13

const EDITS: [string, string[]][] = [
  ['a < 5 K', ['a < 5 K -> a <= 5 K', 'a < 5 K -> a > 5 K', '5 K -> 6.25 K', '5 K -> 4 K']],
  ['not a', ['not a ->  a']],
  ['-a', ['-a -> a']],
  ['a and b', ['a and b -> a or b']],
  ['a - b', ['a - b -> a + b']],
  ['a == 0', ['a == 0 -> a != 0', '0 -> 1']],
  ['a > 2', ['a > 2 -> a >= 2', 'a > 2 -> a < 2', '2 -> 3', '2 -> 1']],
  ['first(a, 0.5)', ['first(a, 0.5) -> first(a)']],
]
for (const [text, said] of EDITS) {
  test(`"${text}" can be mistaken in ${said.length} ways`, t => {
    t.deepEqual(
      editsOf(text).map(edit => edit.said),
      said,
    )
  })
}

const TEXT = `${yamlOf({
  roles: '{ sa_t: degC, ma_t: degC }',
  params: '{ tolerance: { default: 2, min: 1, max: 3, unit: K } }',
  let: '{ shown: ma_t - 1 K }',
  gate: 'fan_on and ma_t > 5 degC',
  when: 'sa_t - ma_t > tolerance',
  persistence: '30m',
  explains: '"{shown}"',
})}
tests:
  - name: far too warm
    step: 5m
    sa_t: 40x12
    ma_t: 10x12
    faults: [00:00-]
`

test('defaults, durations, guards and the gate are altered; what only the sentence shows is not', t => {
  const words = mutantsOf(ruleOf(TEXT)).map(mutant => mutant.words)
  for (const one of ['params.tolerance: 2 -> 2.5', 'persistence: 30m -> 2250s', 'gate: without fan_on', 'gate: dropped'])
    t.true(words.includes(one), `${one} in ${words.join('; ')}`)
  t.false(words.some(one => one.startsWith('let')))
  t.is(new Set(words).size, words.length)
})

test('a test far from every limit notices little, and what lives is told with its line', t => {
  const tried = tryMutants(ruleOf(TEXT, 'warm.yaml'), TEXT)
  const alive = tried.filter(({ killed_by }) => killed_by === null)
  t.true(tried.some(({ killed_by }) => killed_by === 'far too warm'))
  const wider = alive.find(({ mutant }) => mutant === 'params.tolerance: 2 -> 2.5')
  t.regex(wider!.place, /^warm\.yaml:\d+$/)
  t.true(TEXT.split('\n')[Number(wider!.place.split(':')[1]) - 1]!.startsWith('params'))
})

test('a survivor wants a reason, a reason wants a survivor, and too few that are noticed is red', t => {
  const one = (mutant: string, killed_by: string | null): Tried => ({ rule_id: 'A', place: 'a.yaml:1', mutant, killed_by })
  const many = Array.from({ length: 20 }, (_, i) => one(`m${i}`, 'x'))
  const ids = new Set(['A'])
  const listed = (mutant: string) => ({ rule: 'A', mutant, reason: 'because' })
  t.true(judge([...many, one('odd', null)], [listed('odd')], ids).fine)
  t.deepEqual(judge([...many, one('odd', null)], [], ids).unexplained, [one('odd', null)])
  t.deepEqual(judge(many, [listed('gone')], ids).outdated, [listed('gone')])
  t.true(judge(many, [{ ...listed('gone'), rule: 'B' }], ids).fine)
  t.false(judge([...many.slice(0, 9), one('odd', null)], [listed('odd')], ids).fine)
  t.throws(() => readSpared('A: { odd: }'), { message: 'A: odd: a reason is missing' })
})

test('every survivor that is listed is an alteration of its rule', t => {
  for (const { rule: id, mutant } of spared) {
    const rule = rules.find(known => known.id === id)
    t.true(rule !== undefined && mutantsOf(rule).some(({ words }) => words === mutant), `${id}: ${mutant}`)
  }
})

for (const folder of new Set(rules.map(({ filename }) => basename(dirname(filename))))) {
  test(`the tests of ${folder} notice what is altered, a ${SAMPLE}th of it tried`, t => {
    const own = rules.filter(({ filename }) => basename(dirname(filename)) === folder)
    const tried = own.flatMap((rule, number) =>
      tryMutants(rule, readFileSync(rule.filename, 'utf8'), index => (index + number) % SAMPLE === 0),
    )
    t.deepEqual(judge(tried, spared, new Set()).unexplained, [])
  })
}
