import test from 'ava'
import { html } from '#shared/node/http/html.ts'
import { type PageLanguage, inLanguage, message, say, sayCountOf, sayNumber, words } from '#shared/node/http/language.ts'

const languageWith = (messages: Record<string, string>): PageLanguage => ({
  language: 'de',
  translate: text => messages[text],
  translateMade: () => undefined,
  decimal: ',',
  thousands: '.',
})

test('a text keeps its values in the order of the other language, and stays English where no entry is', t => {
  const german = languageWith({ '{0} of {1} answer': 'von {1} antworten {0}' })
  const text = () => [say`${2} of ${5} answer`, say`${2} of ${5} are silent`]
  t.deepEqual(inLanguage(german, text), ['von 5 antworten 2', '2 of 5 are silent'])
  t.deepEqual(text(), ['2 of 5 answer', '2 of 5 are silent'])
})

test('a table made once is read in the language of each answer, and its other properties stay', t => {
  const german = languageWith({ Open: 'Offen', open: 'wrong' })
  const table = words([{ state: 'open', text: 'Open' }], 'text')
  t.deepEqual(
    inLanguage(german, () => ({ ...table[0] })),
    { state: 'open', text: 'Offen' },
  )
  t.deepEqual({ ...table[0] }, { state: 'open', text: 'Open' })
  t.is(
    inLanguage(german, () => say(message`Open`)),
    'Offen',
  )
})

test('a message that says what it is about has a word of its own in another language, and never shows that', t => {
  const german = languageWith({ Equipment: 'Anlage', 'Equipment ¦ several': 'Anlagen' })
  const text = () => [say('Equipment'), say('Equipment ¦ several'), say(say('Equipment ¦ several'))]
  t.deepEqual(inLanguage(german, text), ['Anlage', 'Anlagen', 'Anlagen'])
  t.deepEqual(text(), ['Equipment', 'Equipment', 'Equipment'])
})

test('a counted noun has its own plural, and numbers the separators of the language', t => {
  const german = languageWith({ '1 fault|{0} faults': '1 Störung|{0} Störungen' })
  const text = () => [sayCountOf(1, 'fault'), sayCountOf(1204, 'fault'), sayNumber(-1204.5, 1)]
  t.deepEqual(inLanguage(german, text), ['1 Störung', '1.204 Störungen', '−1.204,5'])
  t.deepEqual(text(), ['1 fault', '1,204 faults', '−1,204.5'])
})

const MARKUP: {
  title: string
  of: (name: string) => { text: string }
  english: string
  german: string
  entries: Record<string, string>
}[] = [
  {
    title: 'a sentence with tags and values within is one message',
    of: name => html`<p>Rules of <a href="/b/${name}">${name}</a> run <b>here</b>.</p>`,
    english: '<p>Rules of <a href="/b/A&amp;B">A&amp;B</a> run <b>here</b>.</p>',
    german: '<p><b>Hier</b> laufen die Regeln von <a href="/b/A&amp;B">A&amp;B</a>.</p>',
    entries: { 'Rules of <1>{0}</1> run <2>here</2>.': '<2>Hier</2> laufen die Regeln von <1>{0}</1>.' },
  },
  {
    title: 'attributes that people read are translated, others are not',
    of: name =>
      html`<input name="Search" value="Search" placeholder="Search" aria-label="Search ${name}"><td data-label="Search">${name}</td>`,
    english:
      '<input name="Search" value="Search" placeholder="Search" aria-label="Search A&amp;B"><td data-label="Search">A&amp;B</td>',
    german:
      '<input name="Search" value="Search" placeholder="Suche" aria-label="A&amp;B suchen"><td data-label="Suche">A&amp;B</td>',
    entries: { Search: 'Suche', 'Search {0}': '{0} suchen' },
  },
  {
    title: 'the end of a line ends a message, and tags around a message are not in it',
    of: name => html`<p>${name}\n<span class="muted"> not   read </span>\nyet</p>`,
    english: '<p>A&amp;B\n<span class="muted"> not   read </span>\nyet</p>',
    german: '<p>A&amp;B\n<span class="muted"> nicht gelesen </span>\nbisher</p>',
    entries: { 'not read': 'nicht gelesen', yet: 'bisher' },
  },
  {
    title: 'values are never translated',
    of: () => html`<p>${'Search'}</p>`,
    english: '<p>Search</p>',
    german: '<p>Search</p>',
    entries: { Search: 'Suche' },
  },
  {
    title: 'a template of attributes alone is no text',
    of: () => html`${html` class="wide" disabled`}`,
    english: ' class="wide" disabled',
    german: ' class="wide" disabled',
    entries: { disabled: 'wrong', 'class="wide" disabled': 'wrong' },
  },
]
for (const { title, of, english, german, entries } of MARKUP) {
  test(title, t => {
    t.is(of('A&B').text, english)
    t.is(inLanguage(languageWith(entries), () => of('A&B')).text, german)
  })
}
