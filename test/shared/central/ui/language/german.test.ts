import { globSync, readFileSync } from 'node:fs'
import test from 'ava'
import Fastify from 'fastify'
import { checkTexts, extractMessages, problemDetails, ruleCheckTexts } from '#scripts/lib/messages.ts'
import { messagesInSources } from '#scripts/language.ts'
import { GERMAN, GERMAN_MESSAGES } from '#shared/central/ui/language/german.ts'
import { explainCondition } from '#shared/core/rules/report/explain.ts'
import { parseRule } from '#shared/core/rules/check/parse-rule.ts'
import { toProblem } from '#shared/node/http/errors.ts'
import { warmRule } from '../../../../support/rule-texts.ts'
import { UNFIT } from '../../../../support/unfit.ts'
import { inLanguage, sayMade, sayPlaced } from '#shared/node/http/language.ts'

const needed = messagesInSources()

test('every text of a page has a German one', t => {
  t.deepEqual(
    [...needed].filter(([message]) => !GERMAN_MESSAGES.has(message)),
    [],
  )
})

test('every German text is needed by a page', t => {
  t.deepEqual(
    [...GERMAN_MESSAGES.keys()].filter(message => !needed.has(message)),
    [],
  )
})

const PLACE = /\{\d+\}|<\/?\d+>/g
const placesIn = (text: string) => (text.match(PLACE) ?? []).toSorted()

test('German keeps the values and tags of each text, and adds no markup', t => {
  t.true(GERMAN_MESSAGES.size > 0)
  for (const [english, german] of GERMAN_MESSAGES) {
    t.deepEqual(placesIn(german), placesIn(english), english)
    t.notRegex(german.replace(PLACE, ''), /[<>"]/, english)
    t.is(german.split('|').length, english.split('|').length, english)
  }
})

test('texts are found in markup, in plain texts, in tables and in counts', t => {
  const source = `const a = html\`<p title="One">Two \${b} <i>three</i></p>\`
const c = words({ four: 'Four', five: ['Five'] }); const d: string = say\`six \${e}\`
const f = words([{ href: 'no', text: 'Seven' }], 'text'); sayCountOf(n, many ? 'eight' : 'nine'); other\`no\`; say(g)`
  t.deepEqual(extractMessages(source).toSorted(), [
    '1 eight|{0} eights',
    '1 nine|{0} nines',
    'Five',
    'Four',
    'One',
    'Seven',
    'Two {0} <1>three</1>',
    'six {0}',
  ])
})

test('details of problems and texts of checks are found where they are made', t => {
  const source = `throw new Problem('conflict', \`Device \${a} is busy\`); new ThrottledProblem('x', b ? 'try again' : 'or not', 3)
new Problem('x', \`\${a}: \${b}\`); new Error('no such thing'); checks.add('code', place, \`has \${n} long columns\`, more); at('/x', 'is the time')`
  t.deepEqual(problemDetails(source), ['Device {0} is busy', 'try again', 'or not'])
  t.deepEqual(checkTexts(source), ['has {0} long columns', 'is the time'])
})

test('texts of the rule language are found where they are made', t => {
  const source = `throw new ExprError(at, \`\${name} has no power\`); yaml.complain(node, 'when is missing', 3); errors.push({ line, message: 'too long' })
const say = (x) => \`the role \${x} is unknown\`; function f() { return 'one of many' } problems.push(\`cause \${a} expected\`)`
  t.deepEqual(ruleCheckTexts(source), [
    '{0} has no power',
    'when is missing',
    'too long',
    'the role {0} is unknown',
    'one of many',
    'cause {0} expected',
  ])
})

test('what each shipped rule says of its condition and its waste is said in German', t => {
  const rules = globSync('rules/**/*.yaml').map(file => parseRule(readFileSync(file, 'utf8'), file))
  const sentences = new Set(rules.flatMap(parsed => (parsed.ok ? explainCondition(parsed.rule) : [])))
  t.true(sentences.size > 500)
  t.deepEqual(
    [...sentences].filter(sentence => GERMAN.translateMade(sentence) === undefined),
    [],
  )
})

test('what is wrong with a rule is said in German', t => {
  const texts = {
    'sa_t > 5 Pa': 'nicht vergleichbar: eine Temperatur und ein Druck',
    'sa_t + nonsense > 1': /^nonsense ist weder Rolle noch Parameter, let oder Makro \(ähnliche Rollen: /,
    'avg(sa_t) > 60 degF': /^avg braucht ein Zeitfenster, zum Beispiel avg\(/,
    'sa_t >': 'der Ausdruck endet zu früh',
    'sa_t > 60 degF and': 'der Ausdruck endet zu früh',
    sa_t: 'hier wird eine Bedingung erwartet, dies ist eine Temperatur',
    '(sa_t > 60 degF true)': 'hier wird „)“ erwartet',
    'sa_t > 60 degF $': '„$“ bedeutet hier nichts',
  }
  const rule = warmRule()
  inLanguage(GERMAN, () => {
    for (const [when, said] of Object.entries(texts)) {
      const parsed = parseRule(rule.replace(/^when: .*$/m, `when: ${when}`), 'rule.yaml')
      const told = parsed.ok ? '' : sayMade(parsed.errors[0]!.message)
      if (said instanceof RegExp) t.regex(told, said, when)
      else t.is(told, said, when)
    }
    const twice = parseRule(`${rule}\nid: OTHER`, 'rule.yaml')
    t.is(twice.ok ? '' : sayMade(twice.errors[0]!.message), 'der Schlüssel ist zweimal da')
  })
})

test('what a schema refuses is said in German, with the field and the value', async t => {
  const app = Fastify({ ajv: { customOptions: { coerceTypes: false, removeAdditional: false, allErrors: true, verbose: true } } })
  const refused: string[] = []
  app.setErrorHandler((error, _request, reply) => {
    refused.push(toProblem(error, 'r').message)
    return reply.code(400).send()
  })
  for (const [i, [schema]] of UNFIT.entries())
    app.post(`/${i}`, { schema: { body: { type: 'object', properties: { x: schema } } } }, () => ({}))
  for (const [i, [, x]] of UNFIT.entries()) await app.inject({ method: 'POST', url: `/${i}`, payload: { x } })
  await app.close()
  inLanguage(GERMAN, () =>
    t.deepEqual(
      refused.map(text => sayMade(text)),
      UNFIT.map(([, , said]) => said),
    ),
  )
})

test('a refusal that was made in English is said in German, with its values, and behind its place', t => {
  inLanguage(GERMAN, () => {
    t.is(
      sayMade('It wastes fan energy: if(fan_status and not asked, 1, 0).'),
      'Sie vergeudet Energie des Ventilators: if(fan_status and not asked, 1, 0).',
    )
    t.is(sayMade('There is a user mary already'), 'Es gibt schon einen Benutzer mary')
    t.is(
      sayMade('Nothing was saved: point p-1 names equipment ahu-9, which does not exist'),
      'Nichts wurde gespeichert: Punkt p-1 nennt die Anlage ahu-9, die es nicht gibt',
    )
    t.is(sayPlaced('AHU-1/history_wide.csv: is empty'), 'AHU-1/history_wide.csv: ist leer')
    t.is(sayPlaced('Supply Temp: furlong is no role; perhaps sa_t'), 'Supply Temp: furlong ist keine Rolle; vielleicht sa_t')
    t.is(sayPlaced('what nobody knows: at all'), 'what nobody knows: at all')
  })
  t.is(sayPlaced('AHU-1: is empty'), 'AHU-1: is empty')
})
