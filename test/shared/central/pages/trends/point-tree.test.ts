/** Points to add to a plot, by the equipment that has them. */
import test from 'ava'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import { pointTree } from '#shared/central/pages/trends/point-tree.ts'

const equipment = (equipment_id: string, parent_id?: string): Equipment => {
  const one = { building_id: 'b', equipment_id, name: equipment_id.toUpperCase(), equipment_type: 'ahu' } as const
  return { ...one, ...(parent_id !== undefined && { parent_id }) }
}
const point = (point_id: string, equipment_id?: string, more: Partial<Point> = {}): Point => ({
  ...{ building_id: 'b', point_id, name: point_id, kind: 'number', unit: 'degC', source: { protocol: 'csv', address: '' } },
  ...(equipment_id !== undefined && { equipment_id }),
  ...more,
})
const EQUIPMENT = [
  equipment('plant'),
  equipment('ahu', 'plant'),
  equipment('vav', 'ahu'),
  equipment('lost', 'nobody'),
  equipment('self', 'self'),
]
const POINTS = [
  point('free'),
  point('a', 'ahu'),
  point('b', 'ahu'),
  point('gone', 'ahu', { gone: { at: 0 } }),
  point('v', 'vav'),
  point('elsewhere', 'nowhere'),
]
const ids = ({ path, below, points }: ReturnType<typeof pointTree>) => [
  path.map(one => one.equipment_id),
  below.map(one => [one.equipment.equipment_id, one.points]),
  points.map(one => one.point_id),
]

test('at the top stands what nothing feeds, and the points of no equipment', t => {
  const top = [
    ['plant', 0],
    ['lost', 0],
    ['self', 0],
  ]
  t.deepEqual(ids(pointTree(EQUIPMENT, POINTS, undefined)), [[], top, ['free', 'elsewhere']])
})

test('an equipment has its points, what it feeds, and the way up', t => {
  t.deepEqual(ids(pointTree(EQUIPMENT, POINTS, 'ahu')), [['plant', 'ahu'], [['vav', 1]], ['a', 'b']])
  t.deepEqual(ids(pointTree(EQUIPMENT, POINTS, 'vav')), [['plant', 'ahu', 'vav'], [], ['v']])
})

test('equipment that feeds itself in a circle ends the way up', t => {
  const circle = [equipment('x', 'y'), equipment('y', 'x')]
  t.deepEqual(ids(pointTree(circle, [], 'x')), [['y', 'x'], [['y', 0]], []])
})
