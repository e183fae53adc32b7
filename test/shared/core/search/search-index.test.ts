import test from 'ava'
import { searchEntries, type SearchEntry, type SearchKind, searchWords } from '#shared/core/search/search-index.ts'

const entry = (kind: SearchKind, id: string, title: string, ...more: string[]): SearchEntry => ({
  kind,
  id,
  title,
  detail: '',
  words: searchWords(title, id, ...more),
})
const ENTRIES = [
  entry('point', 'ahu-1.sa_t', 'AHU-1 SA-T', 'sa_t', 'supply air temperature', 'analog-input,12'),
  entry('point', 'ahu-10.sa_t', 'AHU-10 SA-T', 'sa_t', 'supply air temperature', 'analog-input,120'),
  entry('equipment', 'ahu-1', 'Air handler 1', 'ahu'),
  entry('equipment', 'ahu-10', 'Air handler 10', 'ahu'),
  entry('rule', 'AHU-FC13', 'Supply air too warm', 'sa_t'),
  entry('page', '/setup', 'Set-up'),
]
const find = (query: string, kind?: SearchKind, limit = 10) =>
  searchEntries(ENTRIES, query, { limit, kind }).hits.map(({ id }) => id)

for (const [query, expected] of [
  ['', []],
  ['   ', []],
  ['ahu-1', ['ahu-1', 'ahu-1.sa_t', 'ahu-10.sa_t', 'ahu-10']],
  ['analog-input,12', ['ahu-1.sa_t', 'ahu-10.sa_t']],
  ['SUPPLY warm', ['AHU-FC13']],
  ['temperature 10', ['ahu-10.sa_t']],
  ['set', ['/setup']],
  ['nothing', []],
  ['(', []],
] as const) {
  test(`"${query}" finds ${expected.join(', ') || 'nothing'}`, t => t.deepEqual(find(query), [...expected]))
}

for (const [name, query] of [
  ['Ku\u0308che Su\u0308d', 'küche süd'],
  ['Küche', 'ku\u0308che'],
  ['Ze\u200bro\u00ad Ener\u2060gy\ufeff', 'zero energy'],
  ['Zero', 'ze\u200bro'],
  ['ＡＨＵ－１', 'ahu-1'],
  ['𝐇𝐞𝐚𝐭 pump', 'heat'],
  ['L\ud800 north', 'north'],
] as const) {
  test(`${JSON.stringify(name)} is found by ${JSON.stringify(query)}`, t => {
    const { hits } = searchEntries([entry('point', 'p', name)], query, { limit: 1 })
    t.is(hits.length, 1)
  })
}

test('one kind alone is listed and every kind is counted', t => {
  const { counts, hits } = searchEntries(ENTRIES, 'sa_t', { limit: 10, kind: 'rule' })
  t.deepEqual(
    hits.map(({ id }) => id),
    ['AHU-FC13'],
  )
  t.deepEqual([counts.point, counts.rule, counts.page], [2, 1, 0])
})

test('no more hits are returned than asked for', t => {
  t.deepEqual(find('a', undefined, 2), find('a').slice(0, 2))
  t.deepEqual(find('a', undefined, 0), [])
})
