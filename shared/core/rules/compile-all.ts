/** Makes the rules of one equipment ready to run. */
import { ROLES } from '../role.ts'
import { compileRule, type Instance } from './compile.ts'
import type { Graph } from './graph.ts'
import { own } from './own.ts'
import type { Plant } from './plant.ts'
import type { Each, EquipmentData, Rule, RunPlan } from './types.ts'

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
  const isVisited = which === 'commandable' || which === 'set_point'
  return Object.keys(roles)
    .filter(role => runsOver(which, role) && (!isVisited || own(visits, role)))
    .toSorted()
}

/** Whether a rule over such roles may run over this one; those that must be visited still have to be. */
export function runsOver(which: Each, role: string): boolean {
  if (which === 'commandable') return true
  if (which === 'set_point') return SET_POINT.test(role)
  return own(ROLES, role)?.rests === false || (which === 'any' && own(ROLES, role) !== undefined)
}
