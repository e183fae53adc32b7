import test from 'ava'
import { checkTexts, extractMessages, problemDetails } from '#scripts/lib/messages.ts'
import { messagesInSources } from '#scripts/language.ts'
import { GERMAN, GERMAN_MESSAGES } from '#shared/central/ui/language/german.ts'
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

test('a refusal that was made in English is said in German, with its values, and behind its place', t => {
  inLanguage(GERMAN, () => {
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
