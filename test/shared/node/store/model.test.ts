import test from 'ava'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import { modelStore } from '#shared/node/store/model.ts'
import { temporaryDatabase } from '../../../support/sites/workspace.ts'

const building: Building = { building_id: 'b', name: 'B', site_id: 's', timezone: 'Europe/Berlin', unit_system: 'si', lat: 52.5 }
const equipment: Equipment[] = [
  { equipment_id: 'ahu', building_id: 'b', name: 'AHU 1', equipment_type: 'ahu', feeds: ['vav'] },
  { equipment_id: 'vav', building_id: 'b', name: 'VAV 1', equipment_type: 'vav', parent_id: 'ahu' },
]
const point = (point_id: string, more: Partial<Point> = {}): Point => ({
  point_id,
  building_id: 'b',
  name: point_id.toUpperCase(),
  unit: 'degC',
  kind: 'number',
  source: { protocol: 'bacnet', address: '1001/ai/1' },
  ...more,
})

test('records come back as they were put, and what is not named stays', t => {
  const model = modelStore(temporaryDatabase(t))
  const points = [
    point('a', { equipment_id: 'ahu', role: 'sa_t', poll_secs: 60 }),
    point('m', { kind: 'enum', states: ['off', 'on'] }),
  ]
  model.put({ building, equipment, points })
  model.put({ building: { ...building, name: 'B2' }, points: [point('z')] })
  t.deepEqual(model.buildings(), [{ ...building, name: 'B2' }])
  t.deepEqual(model.building('b'), { ...building, name: 'B2' })
  t.is(model.building('x'), undefined)
  t.deepEqual(model.equipment('b'), equipment)
  t.deepEqual(model.points('b'), [...points, point('z')])
})

test('a put that names what is not there changes nothing', t => {
  const model = modelStore(temporaryDatabase(t))
  t.throws(() => model.put({ equipment }), { code: 'unknown_building' })
  t.throws(() => model.put({ building, points: [point('a'), point('b', { equipment_id: 'nowhere' })] }), {
    code: 'unknown_equipment',
  })
  t.deepEqual(model.buildings(), [])
})

test('assignments are saved, counted, and with replace the others are cleared', t => {
  const model = modelStore(temporaryDatabase(t))
  model.put({ building, equipment, points: [point('a'), point('b', { equipment_id: 'vav', role: 'zone_t' }), point('c')] })
  const a = { point_id: 'a', equipment_id: 'ahu', role: 'sa_t', unit: 'degF' }
  t.deepEqual(model.assign('b', [a], 'merge'), { saved: 1, unchanged: 0, removed: 0 })
  t.deepEqual(model.assign('b', [a], 'merge'), { saved: 0, unchanged: 1, removed: 0 })
  t.deepEqual(model.assign('b', [a], 'replace'), { saved: 0, unchanged: 1, removed: 1 })
  t.deepEqual(model.points('b'), [point('a', { equipment_id: 'ahu', role: 'sa_t', unit: 'degF' }), point('b'), point('c')])
})

test('one bad assignment and none is saved; all of the bad ones are named', t => {
  const model = modelStore(temporaryDatabase(t))
  model.put({ building, equipment, points: [point('a', { equipment_id: 'vav', role: 'zone_t' })] })
  const good = { point_id: 'a', equipment_id: 'ahu', role: 'sa_t' }
  const bad = [good, { ...good, point_id: 'x' }, { ...good, equipment_id: 'y' }]
  const problem = t.throws(() => model.assign('b', bad, 'replace'), { code: 'unknown_point' })
  t.deepEqual(
    (problem as unknown as { errors: { pointer: string }[] }).errors.map(({ pointer }) => pointer),
    ['/assignments/1/point_id', '/assignments/2/equipment_id'],
  )
  t.deepEqual(model.points('b'), [point('a', { equipment_id: 'vav', role: 'zone_t' })])
  t.throws(() => model.assign('x', [], 'merge'), { code: 'unknown_building' })
})

test('a building is removed only while it has neither equipment nor points', t => {
  const model = modelStore(temporaryDatabase(t))
  model.put({ building, points: [point('a')] })
  model.put({ building: { ...building, building_id: 'c' }, equipment: [{ ...equipment[1]!, building_id: 'c' }] })
  model.put({ building: { ...building, building_id: 'd' } })
  for (const id of ['b', 'c', 'd', 'nowhere']) model.dropEmpty(id)
  t.deepEqual(
    model.buildings().map(({ building_id }) => building_id),
    ['b', 'c'],
  )
})
