/** Makes the rules of one equipment ready to run. */
import { ROLES } from '../role.ts'
import { compileRule, type Instance } from './compile.ts'
import type { Graph } from './graph.ts'
import { own } from './own.ts'
import type { Plant } from './plant.ts'
import type { EquipmentData, Rule, RunPlan } from './types.ts'

/** @param rules of the equipment's type */
export function compileAll(
  rules: Rule[],
  equipment: EquipmentData,
  { params, settings = [], resets = [] }: Pick<RunPlan, 'params' | 'settings' | 'resets'>,
  plant: Plant,
  graph: Graph,
): { instances: Instance[]; failed: { rule_id: string; error: string }[] } {
  const instances: Instance[] = []
  const failed: { rule_id: string; error: string }[] = []
  for (const rule of rules) {
    const request = params?.[rule.id] ?? {}
    try {
      for (const role of rolesFor(rule, equipment)) {
        instances.push(compileRule({ rule, equipment, role, request, settings, resets }, plant, graph))
      }
    } catch (error) {
      failed.push({ rule_id: rule.id, error: error instanceof Error ? error.message : String(error) })
    }
  }
  return { instances, failed }
}

/** As every role of a set point is named: `sa_t_sp`, `sa_t_sp_cool`. */
const SET_POINT = /_sp(_|$)/

/** `undefined` once for a plain rule; every mapped role for a rule over roles. */
function rolesFor({ program }: Rule, { roles, visits = {} }: EquipmentData): (string | undefined)[] {
  if (!program.each) return [undefined]
  const { which } = program.each
  if (which === 'commandable' || which === 'set_point') {
    const commandable = Object.keys(visits).filter(role => own(roles, role))
    return commandable.filter(role => which === 'commandable' || SET_POINT.test(role)).toSorted()
  }
  return Object.keys(roles)
    .filter(role => own(ROLES, role)?.rests === false || (which === 'any' && own(ROLES, role)))
    .toSorted()
}
