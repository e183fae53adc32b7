/**
 * Overrides name the cause of the findings that they explain. These findings stay visible: holding a point must not hide a
 * fault.
 */
import type { CauseWeight, Finding } from '#shared/core/findings/finding.ts'
import type { TypedExpr } from '#shared/core/rules/check/typed-expr.ts'
import { bySeverity, covers, matchesAny, type SourcedFinding } from './suppress.ts'
import { READERS } from '#shared/core/rules/check/readers.ts'
import type { EquipmentTopology } from '#shared/core/rules/compile/topology.ts'
import type { Program } from '#shared/core/rules/check/rule.ts'

/** An override has its own cause, and missing data is missing whether a point is held or not. */
const NEVER_RELABELLED: readonly Finding['kind'][] = ['override', 'data']

/** The name of the bound role in the expressions of a rule that runs over roles. */
const EACH_ROLE = 'each'

/**
 * Sets `relabelled_by` on every finding that another one relabels, and puts the heaviest component of that finding before
 * its causes. The original causes stay: a valve that is held may leak as well.
 *
 * Of several relabelling findings the most severe counts, then the earliest, then the smallest id.
 *
 * @param until end of the run, at which open episodes are clipped for comparison
 */
export function relabel(findings: readonly SourcedFinding[], topology: Pick<EquipmentTopology, 'reach'>, until: number): void {
  const byEquipment = Map.groupBy(findings, ({ finding }) => finding.equipment_id)
  const uppers = findings.filter(({ instance }) => instance.rule.program.relabels.length > 0).toSorted(bySeverity)
  for (const upper of uppers) {
    for (const equipment_id of topology.reach(upper.finding.equipment_id)) {
      for (const { finding, instance } of byEquipment.get(equipment_id) ?? []) {
        if (finding.relabelled_by !== undefined || NEVER_RELABELLED.includes(finding.kind)) continue
        if (!covers(upper.finding, finding, until) || !relabels(upper, { finding, instance })) continue
        finding.relabelled_by = upper.finding.finding_id
        finding.cause = renamed(finding.cause, upper.finding.cause[0]?.component ?? upper.finding.kind)
      }
    }
  }
}

/** The override gets the same weight as all causes of the rule together. */
function renamed(causes: readonly CauseWeight[], component: string): CauseWeight[] {
  const weight = Math.round(causes.reduce((sum, cause) => sum + cause.weight, 0) * 1e6) / 1e6 || 1
  return [{ component, weight }, ...causes.filter(cause => cause.component !== component)]
}

/** Whether the first finding relabels the second, which is on the same equipment or on equipment that it feeds. */
function relabels({ instance: upper }: SourcedFinding, { instance: lower }: SourcedFinding): boolean {
  const { relabels: names } = upper.rule.program
  if (upper.rule.id === lower.rule.id) return false
  if (matchesAny(names, lower.rule.id)) return true
  if (!names.includes(READERS)) return false
  const read = conditionRoles(lower.rule.program)
  return lower.leaves.some(
    ({ equipment_id, role }) =>
      equipment_id === upper.equipment.equipment_id &&
      role === upper.role &&
      (read.has(role) || (role === lower.role && read.has(EACH_ROLE))),
  )
}

/**
 * Roles in the condition itself. A role in the gate alone, such as a fan that is held on, lets the rule be evaluated but
 * explains nothing of its result.
 */
function conditionRoles({ when, lets }: Program): Set<string> {
  const roles = new Set<string>()
  const walk = (typed: TypedExpr): void => {
    if (typed.kind === 'role') roles.add(typed.role)
    else if (typed.kind === 'op' || typed.kind === 'baseline') typed.args.forEach(walk)
    else if (typed.kind === 'ref') for (const found of lets) if (found.name === typed.name) walk(found.typed)
  }
  walk(when)
  return roles
}
