import test from 'ava'
import fc from 'fast-check'
import type { Equipment, Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { ruleCoverage } from '#shared/core/rules/report/rule-coverage.ts'
import { runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import { DAY, MINUTE } from '#shared/core/time.ts'
import { loadRules } from '#shared/node/rules/rule-files.ts'

const { rules } = loadRules(['rules'])
const AHU: Equipment = { building_id: 'b', equipment_id: 'AHU-1', name: 'AHU-1', equipment_type: 'ahu', feeds: ['VAV-1'] }
const VAV: Equipment = { building_id: 'b', equipment_id: 'VAV-1', name: 'VAV-1', equipment_type: 'vav' }
const point = (equipment_id: string, role: string): Point => {
  const { unit, kind } = ROLES[role]!
  const source = { protocol: 'bacnet' as const, address: 'analog-input,1' }
  return { point_id: `${equipment_id}.${role}`, building_id: 'b', equipment_id, name: role, role, unit, kind, source }
}

test('a rule that lacks a role says which, and the role that helps most comes first', t => {
  const roles = ['sa_t', 'sa_t_sp', 'clg_valve', 'fan_status', 'ma_t', 'ra_t']
  const { lines, gains } = ruleCoverage(
    rules,
    [AHU],
    roles.map(role => point('AHU-1', role)),
  )
  const of = (id: string) => lines.find(({ rule_id }) => rule_id === id)!
  t.deepEqual(of('AHU-FC13-COOL-FULL').missing, [])
  const lacking = lines.filter(({ missing }) => missing.includes('oa_t'))
  t.true(lacking.length > 3)
  t.deepEqual(
    gains.map(({ rule_ids }) => rule_ids.length),
    gains.map(({ rule_ids }) => rule_ids.length).toSorted((a, b) => b - a),
  )
  for (const { role, rule_ids } of gains) {
    const after = ruleCoverage(
      rules,
      [AHU],
      [...roles, role].filter(one => ROLES[one]).map(one => point('AHU-1', one)),
    ).lines
    if (!ROLES[role]) continue
    for (const id of rule_ids) t.deepEqual(after.find(({ rule_id }) => rule_id === id)!.missing, [], `${role} lets ${id} run`)
  }
})

test('a role whose point is in a unit of something else is missing, as it is for a run', t => {
  const missing = (unit: string) => {
    const points = ['sa_t', 'sa_t_sp', 'clg_valve', 'fan_status', 'ma_t', 'ra_t'].map(role => point('AHU-1', role))
    const lines = ruleCoverage(rules, [AHU], [{ ...points[0]!, unit }, ...points.slice(1)]).lines
    return lines.find(({ rule_id }) => rule_id === 'AHU-FC13-COOL-FULL')!.missing
  }
  t.deepEqual(['degF', 'kW'].map(missing), [[], ['sa_t']])
})

test('it says what a run says, for any mapping', t => {
  const some = fc.subarray(
    Object.keys(ROLES).filter(role => !role.startsWith('wx_')),
    { maxLength: 14 },
  )
  const holds = (ahu: string[], vav: string[]) => {
    const points = [...ahu.map(role => point('AHU-1', role)), ...vav.map(role => point('VAV-1', role))]
    const ts = Float64Array.from({ length: 60 }, (_, i) => i * MINUTE)
    const series = (roles: string[], id: string) =>
      Object.fromEntries(roles.map(role => [role, { point_id: `${id}.${role}`, ts, values: ts.map(() => 1), nominalMs: MINUTE }]))
    const equipment = [
      { equipment_id: 'AHU-1', equipment_type: 'ahu' as const, roles: series(ahu, 'AHU-1'), feeds: ['VAV-1'] },
      { equipment_id: 'VAV-1', equipment_type: 'vav' as const, roles: series(vav, 'VAV-1'), feeds: [] },
    ]
    const { results } = runRules({ building_id: 'b', timezone: 'UTC', from: 0, to: DAY, rules, equipment })
    const ran = results.map(
      ({ equipment_id, rule_id, missing_roles = [] }) => `${equipment_id} ${rule_id} ${missing_roles.join()}`,
    )
    const said = ruleCoverage(rules, [AHU, VAV], points).lines
    return ran.join('\n') === said.map(one => `${one.equipment_id} ${one.rule_id} ${one.missing.join()}`).join('\n')
  }
  t.notThrows(() => fc.assert(fc.property(some, some, holds), { numRuns: 8 }))
})
