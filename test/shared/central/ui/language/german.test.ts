import test from 'ava'
import { extractMessages } from '#scripts/lib/messages.ts'
import { messagesInSources } from '#scripts/language.ts'
import { GERMAN_MESSAGES } from '#shared/central/ui/language/german.ts'

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
