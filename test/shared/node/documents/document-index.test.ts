import { renameSync, rmSync, writeFileSync } from 'node:fs'
import Database from 'better-sqlite3'
import test from 'ava'
import pino from 'pino'
import { splitSections } from '#shared/core/documents/sections.ts'
import { readIndex } from '#shared/node/documents/document-index.ts'
import { openIndexFile } from '#shared/node/documents/index-file.ts'
import { writeIndex } from '#shared/node/documents/write-index.ts'
import { documentIndex, documentIndexFile } from '../../../support/document-index.ts'

const bytes = documentIndex()
const index = readIndex(bytes)
const log = pino({ level: 'silent' })

/** What a person types, and where the answer is. */
const SEARCHES: [query: string, source: string][] = [
  ['forgotten override', 'docs/playbooks.md#a-forgotten-override'],
  ['how do I restore a backup?', 'docs/playbooks.md#restore-a-backup'],
  ['edge silent', 'docs/playbooks.md#an-edge-is-silent'],
  ['disk full', 'docs/playbooks.md#the-disk-is-nearly-full'],
  ['replace a broken box', 'docs/playbooks.md#replace-a-failed-box'],
  ['when does the certificate expire', 'docs/playbooks.md#a-certificate-expires'],
  ['importing CSV packages', 'docs/playbooks.md#import-a-csv-package'],
  ['AHU-ZONE-LEAK OVR-MANUAL-LONG', 'rules/OVR-MANUAL-LONG'],
  ['SERVICE_RETRIEVAL_BIND', 'hub/API.md#retrieval'],
]

for (const [query, source] of SEARCHES) {
  test(`"${query}" finds ${source} first`, t => {
    const [first] = index.searchSections(query, 5)
    t.is(first?.source, source)
    t.true(first!.excerpt.length > 0 && first!.excerpt.length <= 600)
  })
}

test('tags limit a search, and the limit bounds it', t => {
  const rules = index.searchSections('damper', 40, ['rule'])
  t.is(rules.length, 40)
  t.true(rules.every(({ tags }) => tags[0] === 'rule'))
  t.deepEqual(index.searchSections('damper', 3, ['rule']), rules.slice(0, 3))
  t.true(index.searchSections('damper', 5, ['rule', 'format']).length > 0)
  t.deepEqual(index.searchSections('forgotten override', 1, ['format', 'decision'])[0]!.tags, ['decision'])
})

test('a section with every word comes before one that repeats some of them in its title', t => {
  const common = Array.from({ length: 8 }, (_, i) => `# Part ${i}\ngateway`)
  const markdown = ['# Damper damper\ndamper damper', '# Other\nA long text names the damper of a gateway once.', ...common].join(
    '\n',
  )
  const sections = splitSections('a.md', markdown).map(section => ({ ...section, tag: 'guide' as const }))
  const small = readIndex(writeIndex({ sections, routes: [] }))
  const found = (query: string, limit: number) => small.searchSections(query, limit).map(({ title }) => title)
  t.deepEqual(found('damper', 5), ['Damper damper', 'Other'])
  t.deepEqual(found('gateways damper', 2), ['Other', 'Damper damper'])
  t.deepEqual(found('gateways damper', 1), ['Other'])
})

test('nothing that a person types is syntax of the search', t => {
  for (const query of [
    '"',
    '""',
    'a AND',
    'NOT x',
    'title:edge',
    'NEAR(a b)',
    'edge*',
    '^edge',
    '{title}: x',
    "';--",
    '\0edge\0',
    '-',
    'é'.repeat(400),
    'a '.repeat(200),
  ]) {
    t.notThrows(() => index.searchSections(query, 50), query)
    t.notThrows(() => index.searchRoutes(query, 50), query)
  }
  t.deepEqual(index.searchSections('"" * ()', 5), [])
  t.true(index.searchSections('"forgotten" AND (override', 5).some(({ source }) => source.endsWith('#a-forgotten-override')))
})

test('a section comes with those below it, a path brings the whole document, and neither is unbounded', t => {
  const features = index.readSection('README.md#plenum')!
  t.is(features.path, 'README.md')
  t.true(features.sections.some(({ source }) => source === 'README.md#features'))
  t.regex(features.text, /\n## Features\n/)
  const one = index.readSection('docs/playbooks.md#an-edge-is-silent')!
  t.deepEqual(one.sections, [])
  t.deepEqual(one.chapters, ['What to do when'])
  t.notRegex(one.text, /A fault is flagged/)
  const whole = index.readSection('shared/central/API.md')!
  t.true(whole.is_cut)
  t.is(whole.text.length, 32 * 1024)
  t.regex(index.readSection('rules/OVR-MANUAL-LONG')!.text, /Fault when: commanded\(x, 8\)/)
  t.is(index.readSection('docs/none.md'), undefined)
  t.is(index.readSection("x' OR 1=1"), undefined)
})

test('routes are found by what they do and by their path', t => {
  for (const query of ['acknowledge a finding', '/api/fdd/findings/ack', 'assignee']) {
    t.is(index.searchRoutes(query, 5)[0]?.path, '/api/fdd/findings/{finding_id}/ack', query)
  }
})

test('the same documents give the same bytes', t => t.true(documentIndex().equals(bytes)))

test('two documents with one id are refused', t => {
  const section = { ...splitSections('a.md', '# A\nx')[0]!, tag: 'guide' as const }
  t.throws(() => writeIndex({ sections: [section, section], routes: [] }), { message: /UNIQUE/ })
})

const other = new Database(':memory:')
other.exec('CREATE TABLE t (x)')
const newer = new Database(bytes)
newer.pragma('user_version = 9')
const listless = (change: string) => {
  const db = new Database(bytes)
  db.exec(change)
  return db.serialize()
}
const damaged = Buffer.from(bytes)
damaged.fill(0xff, 8192, 16_384)
/** Contents of a file that is no index, and how the error says so. */
const BROKEN: Record<string, [Buffer, RegExp]> = {
  'an empty file': [Buffer.alloc(0), /./],
  text: [Buffer.from('not a database'), /./],
  'another database': [other.serialize(), /not an index of documents/],
  'a newer version': [newer.serialize(), /version 9/],
  'the first half': [bytes.subarray(0, bytes.length / 2), /./],
  'damaged pages': [damaged, /./],
  'chapters that are no JSON': [
    listless(`UPDATE sections SET chapters = 'x' || chapters WHERE rowid = 1`),
    /list of chapters is none/,
  ],
  'chapters that are no list': [listless(`UPDATE sections SET chapters = '{}' WHERE rowid = 1`), /list of chapters is none/],
  'steps that are no JSON': [listless(`UPDATE playbooks SET steps = 'x' || steps`), /list of steps is none/],
}

for (const [what, [content, message]] of Object.entries(BROKEN)) {
  test(`${what} is refused as an index with the reason`, t => t.throws(() => readIndex(content), { message }))
}

test('an index with altered bytes is refused, or answers: no search fails later', t => {
  let refused = 0
  for (let i = 0; i < 100; i++) {
    const altered = Buffer.from(bytes)
    // Spread over the file by a step that shares no factor with its size.
    for (let k = 0; k < 3; k++) altered[((i * 3 + k) * 104_729) % altered.length]! ^= 0x55
    const loaded = readOrRefuse(altered)
    if (!loaded) refused++
    t.notThrows(() => {
      loaded?.searchSections('forgotten override of a damper', 50)
      loaded?.searchRoutes('finding', 50)
      loaded?.readSection('README.md')
    })
  }
  t.true(refused > 50, `${refused} of 100 were refused`)
})

function readOrRefuse(content: Buffer) {
  try {
    return readIndex(content)
  } catch {
    return undefined
  }
}

test('a file that appears, breaks, goes and comes back is seen as it is', t => {
  const path = documentIndexFile(t)
  const file = openIndexFile(path, log)
  t.is(file.current().sections, index.sections)
  writeFileSync(`${path}.new`, BROKEN['the first half']![0])
  renameSync(`${path}.new`, path)
  t.throws(() => file.current(), { message: /damaged or of another version/ })
  t.is(file.find(), undefined)
  rmSync(path)
  t.throws(() => file.current(), { message: /There is no index/ })
  writeFileSync(path, bytes)
  t.is(file.find()?.sections, index.sections)
})
