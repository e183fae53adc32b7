/** On which days rules were active, and which of these days a baseline leaves out. */
import { READERS, roleOfReaders } from '#shared/core/rules/check/readers.ts'
import type { Rule } from '#shared/core/rules/check/rule.ts'
import type { RuleInstance } from '#shared/core/rules/compile/compile-rule.ts'
import type { EquipmentTopology } from '#shared/core/rules/compile/topology.ts'
import { leavesRead, matchesAny } from './suppress.ts'

/** The index of each day on which a rule was active, with the index of the day on which this became known. */
type ActiveDays = ReadonlyMap<number, number>
/** A rule whose active days are left out. */
export type Exclusion = { rule_id: string; days: ActiveDays }

export type Activity = {
  /** @param days grows while the rule runs */
  add(instance: Pick<RuleInstance, 'rule' | 'equipment' | 'role'>, days: ActiveDays): void
  /**
   * @returns what excludes a day from the baselines of `instance`: the rule itself, and every rule that suppresses or
   *   relabels it, as far as it has been added
   */
  exclusions(instance: RuleInstance, topology: Pick<EquipmentTopology, 'upstream'>): Exclusion[]
}

/** A rule that explains others: `names` as in its text, and the roles whose readers they mean. */
type Explainer = { rule: Rule; names: string[]; readers: boolean; roles: Set<string> }

/** The activity of one run. @param rules of the run */
export function createActivity(rules: Rule[]): Activity {
  /** By equipment, rule and role, which is empty for a plain rule. */
  const known = new Map<string, Map<string, Map<string, Exclusion>>>()
  const explainers = rules.flatMap(explainerOf)
  /** By rule, those that name it. */
  const named = new Map(rules.map(({ id }) => [id, new Set(explainers.filter(({ names }) => matchesAny(names, id)))]))
  return {
    add({ rule, equipment: { equipment_id }, role = '' }, days) {
      const ofEquipment = known.get(equipment_id) ?? new Map<string, Map<string, Exclusion>>()
      const ofRule = ofEquipment.get(rule.id) ?? new Map<string, Exclusion>()
      known.set(equipment_id, ofEquipment.set(rule.id, ofRule.set(role, { rule_id: rule.id, days })))
    },
    exclusions(instance, topology) {
      const { rule, equipment, role = '' } = instance
      const found: Exclusion[] = []
      const push = (rule_id: string, equipment_id: string, of: string) => {
        const exclusion = known.get(equipment_id)?.get(rule_id)?.get(of)
        if (exclusion) found.push(exclusion)
      }
      const above = [equipment.equipment_id, ...topology.upstream(equipment.equipment_id)]
      const leaves = leavesRead(instance)
      const own = named.get(rule.id)
      push(rule.id, equipment.equipment_id, role)
      for (const explainer of explainers) {
        const { id, program } = explainer.rule
        if (id === rule.id) continue
        for (const leaf of leaves) {
          if (explainer.readers) push(id, leaf.equipment_id, leaf.role)
          if (explainer.roles.has(leaf.role)) push(id, leaf.equipment_id, '')
        }
        if (!own?.has(explainer)) continue
        const roles = program.each ? Object.keys(equipment.roles) : ['']
        for (const at of above) for (const each of roles) push(id, at, each)
      }
      return found
    },
  }
}

function explainerOf(rule: Rule): Explainer[] {
  const names = [...rule.program.suppresses, ...rule.program.relabels]
  if (names.length === 0) return []
  const roles = new Set(names.flatMap(name => roleOfReaders(name) ?? []))
  return [{ rule, names, readers: names.includes(READERS), roles }]
}
