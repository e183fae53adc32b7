/** The search over many buildings: what it reads of a building once, it does not read again until the building changes. */
import test, { type ExecutionContext } from 'ava'
import { join } from 'node:path'
import type { ActiveFinding } from '#shared/core/findings/finding.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import { createSearch } from '#shared/central/search-service.ts'
import { inLanguage } from '#shared/node/http/language.ts'
import { openSearchTexts } from '#shared/node/model/search-texts.ts'
import { folder } from '../../support/folders.ts'
import { IN_GERMAN } from '../../support/in-german.ts'

const buildingOf = (i: number): Building => ({
  ...{ building_id: `b${i}`, name: `House ${i}`, site_id: 's', timezone: 'UTC', unit_system: 'si' },
})
const pointOf = (building_id: string, i: number): Point => ({
  ...{ building_id, point_id: `p${i}`, name: `Supply ${building_id}`, kind: 'number', unit: 'degC' },
  source: { protocol: 'csv', address: '' },
})

/** Buildings of so many points; `read` names the building of each reading of its points. */
function houses(t: ExecutionContext, count: number, points: number, more: { names?: string[]; faults?: ActiveFinding[] } = {}) {
  const read: string[] = []
  let revision = 1
  let present = count
  const model = {
    buildings: () => Array.from({ length: present }, (_, i) => buildingOf(i)),
    equipment: (building_id: string): Equipment[] =>
      (more.names ?? []).map((name, i) => ({ building_id, equipment_id: `e${i}`, name, equipment_type: 'ahu' })),
    points: (building_id: string) => {
      read.push(building_id)
      return Array.from({ length: points }, (_, i) => pointOf(building_id, i))
    },
    revision: (building_id: string) => (building_id === 'b0' ? revision : 1),
    revisions: () => new Map(Array.from({ length: present }, (_, i) => [`b${i}`, i === 0 ? revision : 1])),
  }
  const texts = openSearchTexts(join(folder(t), 'search.db'))
  t.teardown(() => texts.close())
  const findings = { active: () => more.faults ?? [] }
  const search = createSearch({ model, texts, findings, catalogue: async () => ({ rules: [], revision: '' }) })
  return { search, read, change: () => void revision++, keep: (some: number) => void (present = some) }
}

test('hundreds of buildings are read once, and one that changed again', async t => {
  const { search, read, change } = houses(t, 300, 20)
  const find = () => search.find({ query: 'supply b299', limit: 1 })
  t.is((await find()).hits[0]!.building_id, 'b299')
  t.is(read.length, 300)
  await find()
  t.is(read.length, 300)
  change()
  t.is((await find()).hits[0]!.building_id, 'b299')
  t.deepEqual(read.slice(300), ['b0'])
})

test('large buildings are read once, however many their points are, and searches at once share that', async t => {
  const { search, read } = houses(t, 3, 49_990)
  const find = () => search.find({ query: 'supply b2', limit: 1 })
  const found = await Promise.all([find(), find()])
  for (const { hits, counts } of found) t.deepEqual([hits[0]!.building_id, counts.point], ['b2', 49_990])
  await find()
  t.deepEqual(read, ['b0', 'b1', 'b2'])
})

test('a search of one building reads no other, and one that is gone is not found', async t => {
  const { search, read, keep } = houses(t, 3, 2)
  const one = await search.find({ query: 'supply', limit: 9, building_id: 'b1' })
  t.deepEqual([one.counts.point, read], [2, ['b1']])
  t.is((await search.find({ query: 'supply', limit: 9 })).counts.point, 6)
  keep(2)
  t.is((await search.find({ query: 'supply', limit: 9 })).counts.point, 4)
  t.deepEqual((await search.find({ query: ' ', limit: 9 })).hits, [])
})

test('a name may have any character, and each entry keeps its own', async t => {
  const names = ['Odd\u001ebroken\u0000one', 'AHU \n two', 'Lone \ud800 three', '100 % "four"']
  const { search } = houses(t, 1, 1, { names })
  const titles = async (query: string) =>
    (await search.find({ query, limit: 9 })).hits.map(({ kind, title }) => `${kind} ${title}`)
  t.deepEqual(await titles('broken'), [`equipment ${names[0]}`])
  t.deepEqual(await titles('two'), [`equipment ${names[1]}`])
  t.deepEqual(await titles('three'), [`equipment ${names[2]}`])
  t.deepEqual(await titles('% "four"'), [`equipment ${names[3]}`])
  t.deepEqual(await titles('p0'), ['point Supply b0'])
  t.deepEqual(await titles('eodd'), [], 'what marks the kind of an entry is no part of it')
})

test('a fault is found by the name of its equipment, and texts are in the language of the reader', async t => {
  const fault: ActiveFinding = {
    ...{
      finding_id: 'f',
      building_id: 'b0',
      equipment_id: 'e0',
      rule_id: 'R',
      kind: 'fault',
      title: 'Too warm',
      severity: 1,
      from: 0,
    },
  }
  const { search } = houses(t, 1, 0, { names: ['Roof unit'], faults: [fault] })
  const find = () => search.find({ query: 'roof', limit: 9 })
  t.deepEqual(
    (await find()).hits.map(({ kind, detail }) => [kind, detail]),
    [
      ['equipment', 'Air handler, House 0'],
      ['fault', 'Roof unit, House 0'],
    ],
  )
  const german = await inLanguage(IN_GERMAN, () => search.find({ query: 'lüftungsgerät', limit: 9 }))
  t.deepEqual(
    german.hits.map(({ title }) => title),
    ['Roof unit'],
  )
  t.is((await search.find({ query: 'lüftungsgerät', limit: 9 })).hits.length, 0)
})
