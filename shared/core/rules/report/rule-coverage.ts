/** Which rules can run on which equipment, and what is missing for the others. */
import type { Equipment, Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { MINUTE } from '#shared/core/time.ts'
import { conversion } from '#shared/core/model/unit.ts'
import { type LinkWait, linkWaitsOf } from './link-waits.ts'
import { runRules } from '#shared/core/rules/evaluate/run-rules.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import type { EquipmentData, RoleSeries } from '#shared/core/rules/compile/equipment-data.ts'

export type CoverageLine = {
  equipment_id: string
  rule_id: string
  title: string
  /** Roles, and proofs that equipment runs, that the rule lacks; empty: it runs. */
  missing: string[]
  /** Optional roles that it would also read. */
  optional: string[]
}
/** A role that alone would enable more rules. */
export type CoverageGain = { equipment_id: string; role: string; rule_ids: string[] }
/** `waits`: rules that need a link between equipment. */
export type RuleCoverage = { lines: CoverageLine[]; gains: CoverageGain[]; waits: LinkWait[] }

/**
 * Evaluates the rules over one minute in which every mapped role has a sample, so the answer is that of a real run.
 *
 * @param equipment all equipment of one building, because rules read what feeds an equipment and what it feeds
 */
export function ruleCoverage(rules: Rule[], equipment: Equipment[], points: Point[]): RuleCoverage {
  const data = equipment.map(one => withSamples(one, points))
  const lines = linesOf(rules, data)
  return { lines, gains: gainsOf(lines), waits: linkWaitsOf(data, lines, other => linesOf(rules, other)) }
}

function linesOf(rules: Rule[], data: EquipmentData[]): CoverageLine[] {
  const { results } = runRules({ building_id: '', timezone: 'UTC', from: 0, to: MINUTE, rules, equipment: data })
  const known = new Map(rules.map(rule => [rule.id, rule]))
  const mapped = new Map(data.map(({ equipment_id, roles }) => [equipment_id, roles]))
  return results.map(({ equipment_id, rule_id, missing_roles = [] }): CoverageLine => {
    const { title, optional } = known.get(rule_id)!
    const roles = mapped.get(equipment_id)!
    const more = Object.keys(optional).filter(role => !roles[role] && !missing_roles.includes(role))
    return { equipment_id, rule_id, title, missing: missing_roles, optional: more }
  })
}

/** Most rules first. */
function gainsOf(lines: CoverageLine[]): CoverageGain[] {
  const lacking = lines.filter(({ missing }) => missing.length === 1)
  const groups = Map.groupBy(lacking, ({ equipment_id, missing }) => `${equipment_id}\n${missing[0]}`)
  return [...groups.values()]
    .map(group => ({
      equipment_id: group[0]!.equipment_id,
      role: group[0]!.missing[0]!,
      rule_ids: group.map(({ rule_id }) => rule_id),
    }))
    .toSorted(
      (a, b) => b.rule_ids.length - a.rule_ids.length || (`${a.equipment_id} ${a.role}` < `${b.equipment_id} ${b.role}` ? -1 : 1),
    )
}

function withSamples({ equipment_id, equipment_type, feeds = [], parent_id }: Equipment, points: Point[]): EquipmentData {
  const own = points.filter(point => point.equipment_id === equipment_id && isReadable(point))
  const roles = Object.fromEntries(own.map(({ point_id, role }) => [role!, sampleOf(point_id)]))
  return { equipment_id, equipment_type, roles, feeds, ...(parent_id !== undefined && { parent_id }) }
}

const isReadable = ({ role, unit }: Point): boolean =>
  role !== undefined && ROLES[role] !== undefined && conversion(unit, ROLES[role].unit) !== undefined

const sampleOf = (point_id: string): RoleSeries => ({
  point_id,
  ts: Float64Array.of(0),
  values: Float64Array.of(0),
  nominalMs: MINUTE,
})
