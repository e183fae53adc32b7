/** Runs a set of rules over the equipment of one building. */
import { ROLES } from '../role.ts'
import { collect } from './collect.ts'
import { compileRule, type Instance } from './compile.ts'
import { createGraph } from './graph.ts'
import { own } from './own.ts'
import { type Plant, plantOf } from './plant.ts'
import { runEquipment, type Verdict } from './run-equipment.ts'
import type { Activity } from './suppress.ts'
import type { EquipmentData, Rule, RunInput, RunOutput } from './types.ts'

/**
 * Finds the episodes of every rule on every equipment of its types within `[from, to)`.
 *
 * The answer depends on the input alone: not on the order of rules, equipment or samples. A rule that throws fails on
 * that equipment and is listed; the others go on.
 *
 * @throws RangeError when the time zone is unknown or the span is longer than ten years
 */
export function runRules(input: RunInput): RunOutput {
  const plant = plantOf(input.equipment)
  const rules = input.rules.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const failed: RunOutput['failed'] = []
  const activity: Activity = new Map()
  const verdicts: Verdict[] = []
  for (const equipment of plant.equipment) {
    const instances = compileAll(rules, equipment, input, plant, failed)
    verdicts.push(...runEquipment(instances, input, plant, activity, failed))
  }
  return { ...collect(verdicts, input, plant), failed }
}

function compileAll(
  rules: Rule[],
  equipment: EquipmentData,
  input: RunInput,
  plant: Plant,
  failed: RunOutput['failed'],
): Instance[] {
  const graph = createGraph()
  const instances: Instance[] = []
  for (const rule of rules) {
    if (!rule.equipment.includes('any') && !rule.equipment.includes(equipment.equipment_type)) continue
    const request = input.params?.[rule.id] ?? {}
    const { settings = [], resets = [] } = input
    try {
      for (const role of rolesFor(rule, equipment)) {
        instances.push(compileRule({ rule, equipment, role, request, settings, resets }, plant, graph))
      }
    } catch (error) {
      failed.push({ rule_id: rule.id, equipment_id: equipment.equipment_id, error: messageOf(error) })
    }
  }
  return instances
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

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
