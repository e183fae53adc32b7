/** What the rules of an equipment may read elsewhere, told from the rules alone: so much is loaded before they are made ready. */
import type { TypedExpr } from '#shared/core/rules/check/typed-expr.ts'
import { PLANT_MACHINES, MACROS, PLANT_MACROS } from '#shared/core/rules/language/macros.ts'
import { getOwn } from '#shared/core/get-own.ts'
import { SITE_ROLE, type EquipmentOutline, type EquipmentTopology } from './building-signals.ts'
import type { Program, Rule } from '#shared/core/rules/check/rule.ts'

/** Roles of one equipment that a run of another, or of itself, reads; and those whose visits it reads. */
export type DataNeed = { equipment_id: string; roles: string[]; visits: string[] }

/** Roles on what feeds an equipment, on what it feeds, as a proof that it runs, and as a proof that a plant's machines do. */
type RolesRead = { parent: Set<string>; zones: Set<string>; proofs: Set<string>; machines: Set<string> }

const known = new WeakMap<Program, RolesRead>()

/** @returns by rule, the roles that it may read on what feeds an equipment, on what that feeds, and as a proof that it runs */
export function rolesReadBy({ program }: Pick<Rule, 'program'>): RolesRead {
  const before = known.get(program)
  if (before) return before
  const reads: RolesRead = { parent: new Set(), zones: new Set(), proofs: new Set(), machines: new Set() }
  const visit = (typed: TypedExpr | undefined): void => {
    if (!typed) return
    if (typed.kind === 'role' && typed.where === 'parent') reads.parent.add(typed.role)
    if (typed.kind === 'zones') reads.zones.add(typed.role)
    if (typed.kind === 'ref') {
      for (const { role } of getOwn(MACROS, typed.name)?.proofs ?? []) {
        reads.proofs.add(role)
        if (PLANT_MACROS.has(typed.name)) reads.machines.add(role)
      }
    }
    if (typed.kind === 'op' || typed.kind === 'baseline') for (const arg of typed.args) visit(arg)
  }
  for (const typed of expressionsOf(program)) visit(typed)
  known.set(program, reads)
  return reads
}

function expressionsOf({ lets, gate, guard, when, baselines, causes, explains, impact }: Program): (TypedExpr | undefined)[] {
  return [
    ...lets.map(({ typed }) => typed),
    gate,
    guard,
    when,
    ...baselines.flatMap(({ of, when: then }) => [of, then]),
    ...causes.map(({ when: then }) => then),
    ...explains.map(part => (typeof part === 'object' && 'typed' in part ? part.typed : undefined)),
    impact?.waste,
  ]
}

/** @returns the equipment itself first, with all of its roles; elsewhere only mapped roles that some rule may read */
export function dataNeedsOf(
  { equipment_id, equipment_type, roles, visited }: EquipmentOutline,
  reads: RolesRead[],
  site: EquipmentTopology,
): DataNeed[] {
  const any = (which: keyof RolesRead) => new Set(reads.flatMap(each => [...each[which]]))
  const [parent, zones, proofs, ofMachines] = [any('parent'), any('zones'), any('proofs'), any('machines')]
  const above = new Set(site.upstream(equipment_id))
  const below = new Set(site.downstream(equipment_id))
  const machines = PLANT_MACHINES[equipment_type] ?? []
  const machinesAbove = new Set(site.machinesAbove(equipment_id))
  const wanted = (other: EquipmentOutline, role: string): boolean =>
    (above.has(other.equipment_id) && (parent.has(role) || proofs.has(role))) ||
    (below.has(other.equipment_id) && (zones.has(role) || (proofs.has(role) && machines.includes(other.equipment_type)))) ||
    (machinesAbove.has(other.equipment_id) && ofMachines.has(role)) ||
    (other.equipment_type === 'weather' && SITE_ROLE.test(role))
  const needs = site.equipment.flatMap((other): DataNeed[] => {
    const read = other.equipment_id === equipment_id ? [] : other.roles.filter(role => wanted(other, role))
    return read.length > 0 ? [{ equipment_id: other.equipment_id, roles: read, visits: [] }] : []
  })
  return [{ equipment_id, roles: [...roles], visits: [...visited] }, ...needs]
}
