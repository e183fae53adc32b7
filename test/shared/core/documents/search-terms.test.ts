import test from 'ava'
import { matchTerms, searchTerms } from '#shared/core/documents/search-terms.ts'

const CASES: [query: string, terms: string[]][] = [
  ['Forgotten override', ['forgotten', 'override']],
  ['How do I restore a backup?', ['restore', 'backup']],
  ['what is it', ['what', 'is', 'it']],
  ['edge edge EDGE', ['edge']],
  ['SERVICE_SITE_ID AHU-SUPPLY-WARM', ['service_site_id', 'ahu-supply-warm']],
  ['/api/fdd/run', ['api', 'fdd', 'run']],
  ['Rückluft 温度', ['rückluft', '温度']],
  ['"") * ^ - :', []],
  ['', []],
]

for (const [query, terms] of CASES) {
  test(`the words of ${JSON.stringify(query)} are looked for`, t => t.deepEqual(searchTerms(query), terms))
}

test('a query has at most 32 words, and each is quoted', t => {
  t.is(searchTerms(Array.from({ length: 200 }, (_, i) => `w${i}`).join(' ')).length, 32)
  t.is(matchTerms(['near', 'a"b'], 'OR'), '"near" OR "a""b"')
})
