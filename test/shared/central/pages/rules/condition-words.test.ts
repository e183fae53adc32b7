/** Conditions of rules as pages show them, and the words for what is called in them. */
import test from 'ava'
import { conditionHtml, functionsIn, functionsLegend } from '#shared/central/pages/rules/condition-words.ts'
import { withValuesText } from '#shared/central/ui/measure-text.ts'
import { FUNCTIONS, EXPANSIONS } from '#shared/core/rules/language/functions.ts'

const textOf = (html: unknown): string =>
  String(html)
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')

const CASES: [string, string][] = [
  ['a > b and c', 'a > b and c'],
  ['if(nominal(x) <= 15 min, differs, held(differs, 60m))', 'differs while nominal(x) <= 15 min, otherwise held(differs, 60m)'],
  ['if(has(a) or (b and c), x > if(d, 1, 2), y < (3))', 'x > if(d, 1, 2) while has(a) or (b and c), otherwise y < (3)'],
  ['x > if(d, 1, 2)', 'x > if(d, 1, 2)'],
  ['if(a, b', 'if(a, b'],
]
for (const [written, shown] of CASES) {
  test(`${written} is shown as ${shown}`, t => t.is(textOf(conditionHtml(written)), shown))
}

test('the values of a condition stand in its parts, and none behind a function of the point itself', t => {
  const evidence = { inputs: { fan_status: 0, fan_cmd: 1 }, params: {} }
  const text = 'nominal(fan_status) <= 15 min and has(fan_cmd) and fan_cmd and not fan_status'
  t.is(
    withValuesText(text, evidence, 'si'),
    'nominal(fan_status) <= 15 min and has(fan_cmd) and fan_cmd [on] and not fan_status [off]',
  )
})

test('each function of the language but abs is explained, once, in the order of the condition', t => {
  const all = [...Object.keys(FUNCTIONS), ...Object.keys(EXPANSIONS)].filter(name => name !== 'abs')
  for (const name of all) t.regex(String(functionsLegend([`${name}(x)`])), new RegExp(`<code>${name}\\(`), name)
  t.deepEqual(functionsIn(['held(first(a, b), 5m)', 'first(c, d) and (e)']), ['held', 'first'])
  t.false(functionsLegend(['a > b', 'abs(a - b) > 2 K', 'toString(x)']))
})
