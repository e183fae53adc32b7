/** An override names the cause of what it explains, which stays where people see it: nobody hides a fault by holding a point. */
import type { CauseWeight, Finding } from '#shared/core/findings/finding.ts'
import type { TypedExpr } from '#shared/core/rules/check/typed-expr.ts'
import { bySeverity, covers, matchesAny, type SourcedFinding, READERS } from './suppress.ts'
import type { EquipmentTopology } from '#shared/core/rules/compile/topology.ts'
import type { Program } from '#shared/core/rules/check/rule.ts'

/** An override has named its own cause, and data that is missing is missing whoever holds the point. */
const NEVER_RELABELLED: readonly Finding['kind'][] = ['override', 'data']

/** How a checked expression names the role to which a rule over every role is bound. */
const EACH_ROLE = 'each'

/**
 * Sets `relabelled_by`, and puts that finding's heaviest component before the causes, on every finding that another one
 * relabels. What the finding pointed to stays behind it: a valve that is held may leak as well.
 *
 * Of several the most severe counts, then the earliest, then the smallest id.
 *
 * @param until end of the run, where an open episode is cut for comparing
 */
export function relabel(judged: readonly SourcedFinding[], plant: Pick<EquipmentTopology, 'reach'>, until: number): void {
  const byEquipment = Map.groupBy(judged, ({ finding }) => finding.equipment_id)
  const uppers = judged.filter(({ instance }) => instance.rule.program.relabels.length > 0).toSorted(bySeverity)
  for (const upper of uppers) {
    for (const equipment_id of plant.reach(upper.finding.equipment_id)) {
      for (const { finding, instance } of byEquipment.get(equipment_id) ?? []) {
        if (finding.relabelled_by !== undefined || NEVER_RELABELLED.includes(finding.kind)) continue
        if (!covers(upper.finding, finding, until) || !relabels(upper, { finding, instance })) continue
        finding.relabelled_by = upper.finding.finding_id
        finding.cause = renamed(finding.cause, upper.finding.cause[0]?.component ?? upper.finding.kind)
      }
    }
  }
}

/** The override weighs as much as all that the rule itself points to. */
function renamed(causes: readonly CauseWeight[], component: string): CauseWeight[] {
  const weight = Math.round(causes.reduce((sum, cause) => sum + cause.weight, 0) * 1e6) / 1e6 || 1
  return [{ component, weight }, ...causes.filter(cause => cause.component !== component)]
}

/** Told of two findings of which the second is on the first one's equipment or on what that feeds. */
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
 * Roles that the condition itself compares. What stands in the gate alone, such as the fan that somebody holds on, lets the
 * rule look and explains nothing of what it sees.
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
