/** The data that the rules of an equipment need, derived from the rules alone, so that it can be loaded before they are compiled. */
import { getOwn } from '#shared/core/get-own.ts'
import type { Program, Rule } from '#shared/core/rules/check/rule.ts'
import type { TypedExpr } from '#shared/core/rules/check/typed-expr.ts'
import { MACROS, PLANT_MACHINES, PLANT_MACROS } from '#shared/core/rules/language/macros.ts'
import { type EquipmentOutline, type EquipmentTopology, SITE_ROLE } from './topology.ts'

/** Roles of one equipment that a run of another, or of itself, reads; and those whose visits it reads. */
export type DataNeed = { equipment_id: string; roles: string[]; visits: string[] }

/**
 * Roles that a rule reads on the equipment that feeds this one, on the equipment that this one feeds, as proofs that it
 * runs, and as proofs that the machines of its plant run.
 */
type RolesRead = { parent: Set<string>; zones: Set<string>; proofs: Set<string>; machines: Set<string> }

export function rolesReadBy({ program }: Pick<Rule, 'program'>): RolesRead {
  const read: RolesRead = { parent: new Set(), zones: new Set(), proofs: new Set(), machines: new Set() }
  const visit = (typed: TypedExpr | undefined): void => {
    if (!typed) return
    if (typed.kind === 'role' && typed.where === 'parent') read.parent.add(typed.role)
    if (typed.kind === 'zones') read.zones.add(typed.role)
    if (typed.kind === 'ref') {
      for (const { role } of getOwn(MACROS, typed.name)?.proofs ?? []) {
        read.proofs.add(role)
        if (PLANT_MACROS.has(typed.name)) read.machines.add(role)
      }
    }
    if (typed.kind === 'op' || typed.kind === 'baseline') for (const arg of typed.args) visit(arg)
  }
  for (const typed of expressionsOf(program)) visit(typed)
  return read
}

function expressionsOf(program: Program): (TypedExpr | undefined)[] {
  const { lets, gate, guard, when, baselines, causes, explains, impact } = program
  return [
    ...lets.map(({ typed }) => typed),
    gate,
    guard,
    when,
    ...baselines.flatMap(({ of, on, when: then }) => [of, ...on, then]),
    ...causes.map(({ when: then }) => then),
    ...explains.map(part => (typeof part === 'object' && 'typed' in part ? part.typed : undefined)),
    impact?.waste,
  ]
}

/** @returns the equipment itself first, with all of its roles; of other equipment only the mapped roles that a rule may read */
export function dataNeedsOf(equipment: EquipmentOutline, rules: RolesRead[], topology: EquipmentTopology): DataNeed[] {
  const { equipment_id, equipment_type, roles, visited } = equipment
  const anyRule = (which: keyof RolesRead) => new Set(rules.flatMap(each => [...each[which]]))
  const [parent, zones, proofs, ofMachines] = [anyRule('parent'), anyRule('zones'), anyRule('proofs'), anyRule('machines')]
  const above = new Set(topology.upstream(equipment_id))
  const below = new Set(topology.downstream(equipment_id))
  const machines = PLANT_MACHINES[equipment_type] ?? []
  const machinesAbove = new Set(topology.machinesAbove(equipment_id))
  const isRead = (other: EquipmentOutline, role: string): boolean =>
    (above.has(other.equipment_id) && (parent.has(role) || proofs.has(role))) ||
    (below.has(other.equipment_id) && (zones.has(role) || (proofs.has(role) && machines.includes(other.equipment_type)))) ||
    (machinesAbove.has(other.equipment_id) && ofMachines.has(role)) ||
    (other.equipment_type === 'weather' && SITE_ROLE.test(role))
  const isNear = (other: EquipmentOutline): boolean =>
    above.has(other.equipment_id) ||
    below.has(other.equipment_id) ||
    machinesAbove.has(other.equipment_id) ||
    other.equipment_type === 'weather'
  const others = topology.equipment.filter(other => other.equipment_id !== equipment_id && isNear(other))
  const needs = others.flatMap((other): DataNeed[] => {
    const read = other.roles.filter(role => isRead(other, role))
    return read.length > 0 ? [{ equipment_id: other.equipment_id, roles: read, visits: [] }] : []
  })
  return [{ equipment_id, roles: [...roles], visits: [...visited] }, ...needs]
}
