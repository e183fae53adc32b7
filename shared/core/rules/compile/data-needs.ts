/** What the rules of an equipment may read elsewhere, told from the rules alone: so much is loaded before they are made ready. */
import type { Typed } from '#shared/core/rules/check/typed-expr.ts'
import { MACHINES, MACROS, OF_PLANT } from '#shared/core/rules/language/macros.ts'
import { own } from '#shared/core/get-own.ts'
import { OF_SITE, type Placed, type Site } from './building-signals.ts'
import type { Program, Rule } from '#shared/core/rules/check/rule.ts'

/** Roles of one equipment that a run of another, or of itself, reads; and those whose visits it reads. */
export type Need = { equipment_id: string; roles: string[]; visits: string[] }

/** Roles on what feeds an equipment, on what it feeds, as a proof that it runs, and as a proof that a plant's machines do. */
type Reads = { parent: Set<string>; zones: Set<string>; proofs: Set<string>; machines: Set<string> }

const known = new WeakMap<Program, Reads>()

/** @returns by rule, the roles that it may read on what feeds an equipment, on what that feeds, and as a proof that it runs */
export function readsOf({ program }: Pick<Rule, 'program'>): Reads {
  const before = known.get(program)
  if (before) return before
  const reads: Reads = { parent: new Set(), zones: new Set(), proofs: new Set(), machines: new Set() }
  const visit = (typed: Typed | undefined): void => {
    if (!typed) return
    if (typed.kind === 'role' && typed.where === 'parent') reads.parent.add(typed.role)
    if (typed.kind === 'zones') reads.zones.add(typed.role)
    if (typed.kind === 'ref') {
      for (const { role } of own(MACROS, typed.name)?.proofs ?? []) {
        reads.proofs.add(role)
        if (OF_PLANT.has(typed.name)) reads.machines.add(role)
      }
    }
    if (typed.kind === 'op' || typed.kind === 'baseline') for (const arg of typed.args) visit(arg)
  }
  for (const typed of expressionsOf(program)) visit(typed)
  known.set(program, reads)
  return reads
}

function expressionsOf({ lets, gate, guard, when, baselines, causes, explains, impact }: Program): (Typed | undefined)[] {
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
export function needsOf({ equipment_id, equipment_type, roles, visited }: Placed, reads: Reads[], site: Site): Need[] {
  const any = (which: keyof Reads) => new Set(reads.flatMap(each => [...each[which]]))
  const [parent, zones, proofs, ofMachines] = [any('parent'), any('zones'), any('proofs'), any('machines')]
  const above = new Set(site.upstream(equipment_id))
  const below = new Set(site.downstream(equipment_id))
  const machines = MACHINES[equipment_type] ?? []
  const machinesAbove = new Set(site.machinesAbove(equipment_id))
  const wanted = (other: Placed, role: string): boolean =>
    (above.has(other.equipment_id) && (parent.has(role) || proofs.has(role))) ||
    (below.has(other.equipment_id) && (zones.has(role) || (proofs.has(role) && machines.includes(other.equipment_type)))) ||
    (machinesAbove.has(other.equipment_id) && ofMachines.has(role)) ||
    (other.equipment_type === 'weather' && OF_SITE.test(role))
  const needs = site.equipment.flatMap((other): Need[] => {
    const read = other.equipment_id === equipment_id ? [] : other.roles.filter(role => wanted(other, role))
    return read.length > 0 ? [{ equipment_id: other.equipment_id, roles: read, visits: [] }] : []
  })
  return [{ equipment_id, roles: [...roles], visits: [...visited] }, ...needs]
}
