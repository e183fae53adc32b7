import test from 'ava'
import { cataloguePage, readLists } from '#scripts/lib/catalogue-page.ts'
import { ruleOf, yamlOf } from '../support/rules/helpers.ts'

const rule = (id: string) => ruleOf(yamlOf({ id, roles: '{ sa_t: degC }', when: 'sa_t > 5 degC' }))
const RULES = ['FAN-10', 'FAN-9', 'PUMP-1'].map(rule)
const FAMILIES = [
  { title: 'Fans', rules: ['FAN-*'], about: 'Of fans.' },
  { title: 'Pumps', rules: ['PUMP-1'], about: 'Of pumps.' },
]
const page = (families = FAMILIES, lists = '[]') =>
  cataloguePage(RULES, '# A\n{{reasons}}\n{{rules}}\n# B\n{{lists}}\n', families, readLists(lists), {
    settles: 'air is in balance',
  })

test('rules stand in their families, the ninth before the tenth', t => {
  const ids = [...page().matchAll(/^\| ([A-Z]+-\d+) /gm)].map(([, id]) => id)
  t.deepEqual(ids, ['FAN-9', 'FAN-10', 'PUMP-1'])
})

test('reasons that rules share stand with their names', t => {
  t.regex(page(), /\| settles \| air is in balance \|/)
})

test('a row of a list names its rules, with a note, or says why there is none', t => {
  const text = page(
    FAMILIES,
    '- title: Others\n  rows:\n    FC1: FAN-9\n    FC2: { rules: "FAN-*", note: all }\n    FC3: { none: no sensor }',
  )
  t.true(text.endsWith('| FC1 | FAN-9 |\n| FC2 | FAN-*: all |\n| FC3 | no rule: no sensor |\n'), text)
})

test('a rule without a family or with two, a rule that is not there and a row without an answer are refused', t => {
  t.throws(() => page(FAMILIES.slice(1)), { message: 'FAN-10 belongs to 0 families' })
  t.throws(() => page([...FAMILIES, FAMILIES[1]!]), { message: 'PUMP-1 belongs to 2 families' })
  t.throws(() => page(FAMILIES, '- title: Others\n  rows: { FC1: FAN-8 }'), { message: 'Others: FC1: there is no rule FAN-8' })
  t.throws(() => readLists('- title: Others\n  rows: { FC1: { none: no sensor, nor a model } }'), {
    message: /unknown key nor a model/,
  })
  t.throws(() => readLists('- title: Others\n  rows: { FC1: { note: why } }'), {
    message: 'Others: FC1: neither rules nor a reason',
  })
})
