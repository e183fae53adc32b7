/** The search over many buildings: what it reads of a building once, it does not read again until the building changes. */
import test from 'ava'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import { createSearch } from '#shared/central/search-service.ts'

const buildingOf = (i: number): Building => ({
  ...{ building_id: `b${i}`, name: `House ${i}`, site_id: 's', timezone: 'UTC', unit_system: 'si' },
})
const pointOf = (building_id: string, i: number): Point => ({
  ...{ building_id, point_id: `p${i}`, name: `Supply ${building_id}`, kind: 'number', unit: 'degC' },
  source: { protocol: 'csv', address: '' },
})

/** Buildings of so many points; `read` names the building of each reading of its points. */
function houses(count: number, points: number) {
  const read: string[] = []
  let revision = 1
  const model = {
    buildings: () => Array.from({ length: count }, (_, i) => buildingOf(i)),
    equipment: (): Equipment[] => [],
    points: (building_id: string) => {
      read.push(building_id)
      return Array.from({ length: points }, (_, i) => pointOf(building_id, i))
    },
    revision: (building_id: string) => (building_id === 'b0' ? revision : 1),
  }
  const search = createSearch({ model, findings: { active: () => [] }, catalogue: async () => ({ rules: [], revision: '' }) })
  return { search, read, change: () => void revision++ }
}

test('hundreds of buildings are read once, and one that changed again', async t => {
  const { search, read, change } = houses(300, 20)
  const find = () => search.find({ query: 'supply b299', limit: 1 })
  t.is((await find()).hits[0]!.building_id, 'b299')
  t.is(read.length, 300)
  await find()
  t.is(read.length, 300)
  change()
  t.is((await find()).hits[0]!.building_id, 'b299')
  t.deepEqual(read.slice(300), ['b0'])
})

test('buildings beyond what stays in memory are found too', async t => {
  const { search, read } = houses(3, 49_990)
  const find = () => search.find({ query: 'supply b2', limit: 1 })
  t.is((await find()).hits[0]!.building_id, 'b2')
  await find()
  t.deepEqual(read, ['b0', 'b1', 'b2', 'b2'])
})
