/** Rules that wait for a link between equipment, with the rules of the catalogue. */
import test from 'ava'
import type { Equipment, EquipmentType, Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { ruleCoverage } from '#shared/core/rules/report/rule-coverage.ts'
import { describeWait } from '#shared/core/rules/report/link-waits.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'

const { rules } = loadRules(['rules'])
const HANDLER = ['sa_t', 'sa_t_sp', 'oa_t', 'fan_status', 'clg_valve']
const BOX = ['zone_t', 'zone_flow', 'zone_flow_sp', 'discharge_t', 'reheat_valve', 'damper']

const one = (equipment_id: string, equipment_type: EquipmentType, more: Partial<Equipment> = {}): Equipment => ({
  ...{ building_id: 'b', equipment_id, name: equipment_id, equipment_type },
  ...more,
})
const pointsOf = (equipment_id: string, roles: string[]): Point[] =>
  roles.flatMap(role => {
    const known = ROLES[role]
    if (!known) return []
    const source = { protocol: 'csv' as const, address: role }
    return [{ point_id: `${equipment_id}.${role}`, building_id: 'b', equipment_id, name: role, role, source, ...known }]
  })
const ran = (equipment: Equipment[], points: Point[], id: string) =>
  new Set(
    ruleCoverage(rules, equipment, points).lines.flatMap(({ equipment_id, rule_id, missing }) =>
      equipment_id === id && missing.length === 0 ? [rule_id] : [],
    ),
  )

test('the rules that wait are exactly those that run once the box is linked to its handler', t => {
  const points = [...pointsOf('AHU-1', HANDLER), ...['V1', 'V2'].flatMap(id => pointsOf(id, BOX))]
  const apart = [one('AHU-1', 'ahu'), one('V1', 'vav'), one('V2', 'vav')]
  const [wait, ...more] = ruleCoverage(rules, apart, points).waits
  const linked = [one('AHU-1', 'ahu', { feeds: ['V2'] }), one('V1', 'vav', { parent_id: 'AHU-1' }), one('V2', 'vav')]
  const before = ran(apart, points, 'V1')
  const gained = [...ran(linked, points, 'V1')].filter(id => !before.has(id)).toSorted()
  t.true(gained.length > 3)
  t.deepEqual(more, [])
  t.deepEqual(wait, {
    equipment_type: 'vav',
    served_by: 'ahu',
    equipment_ids: ['V1', 'V2'],
    server_ids: ['AHU-1'],
    rule_ids: gained,
  })
  t.is(describeWait(wait!), `${gained.length} rules for 2 boxes wait for the air handler that serves them`)
  t.deepEqual(ruleCoverage(rules, linked, points).waits, [])
})

test('a box that only a hot-water plant feeds still waits for its handler', t => {
  const equipment = [one('AHU-1', 'ahu'), one('HW', 'hw_plant', { feeds: ['V1'] }), one('V1', 'vav')]
  const { waits } = ruleCoverage(rules, equipment, [...pointsOf('AHU-1', HANDLER), ...pointsOf('V1', BOX)])
  t.deepEqual(
    waits.filter(({ equipment_type }) => equipment_type === 'vav').map(({ equipment_ids }) => equipment_ids),
    [['V1']],
  )
})

test('a rule that a link would not let run does not wait for one', t => {
  const apart = [one('AHU-1', 'ahu'), one('V1', 'vav')]
  const without = (role: string) =>
    ruleCoverage(rules, apart, [
      ...pointsOf(
        'AHU-1',
        HANDLER.filter(held => held !== role),
      ),
      ...pointsOf('V1', BOX),
    ]).waits
  const all = ruleCoverage(rules, apart, [...pointsOf('AHU-1', HANDLER), ...pointsOf('V1', BOX)]).waits
  t.true(all[0]!.rule_ids.includes('VAV-REHEAT-LEAK'))
  t.false(without('sa_t')[0]!.rule_ids.includes('VAV-REHEAT-LEAK'))
  t.deepEqual(ruleCoverage(rules, apart, pointsOf('AHU-1', HANDLER)).waits, [])
})

test('a package of boxes alone waits for a handler, and a handler without a plant waits for nothing', t => {
  const boxes = ruleCoverage(rules, [one('V1', 'vav')], pointsOf('V1', BOX)).waits
  t.deepEqual(
    boxes.map(({ equipment_ids }) => equipment_ids),
    [['V1']],
  )
  t.true(describeWait(boxes[0]!).endsWith('rules for 1 box wait for the air handler that serves it'))
  t.deepEqual(ruleCoverage(rules, [one('AHU-1', 'ahu')], pointsOf('AHU-1', HANDLER)).waits, [])
})
