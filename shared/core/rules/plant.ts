/** The equipment of one run, with who feeds whom and every role as a step function, made once. */
import { type Steps, stepsOf } from './steps.ts'
import type { EquipmentData } from './types.ts'

/** Longest chain of equipment that feeds equipment: a longer one is a ring. */
const CHAIN_MAX = 16

export type Plant = {
  equipment: EquipmentData[]
  /** Undefined when the role is not mapped; without samples it is there and empty. */
  steps(equipment_id: string, role: string): Steps | undefined
  /** What feeds it, nearest first. */
  upstream(equipment_id: string): string[]
  /** What it feeds, in the order of their ids. */
  downstream(equipment_id: string): string[]
}

export function plantOf(equipment: EquipmentData[]): Plant {
  const byId = new Map(equipment.map(item => [item.equipment_id, item]))
  const parents = new Map<string, string>()
  for (const { equipment_id, feeds } of equipment) for (const fed of feeds) if (byId.has(fed)) parents.set(fed, equipment_id)
  for (const { equipment_id, parent_id } of equipment) if (parent_id && byId.has(parent_id)) parents.set(equipment_id, parent_id)
  const fed = new Map<string, string[]>()
  for (const [below, by] of [...parents].toSorted(([a], [b]) => (a < b ? -1 : 1))) fed.set(by, [...(fed.get(by) ?? []), below])
  const made = new Map<string, Steps>()
  const upstream = (equipment_id: string): string[] => {
    const chain: string[] = []
    let next = parents.get(equipment_id)
    while (next !== undefined && chain.length < CHAIN_MAX && !chain.includes(next) && next !== equipment_id) {
      chain.push(next)
      next = parents.get(next)
    }
    return chain
  }
  return {
    // What feeds others comes first, so that its activity is known when theirs is judged.
    equipment: equipment.toSorted(
      (a, b) => upstream(a.equipment_id).length - upstream(b.equipment_id).length || (a.equipment_id < b.equipment_id ? -1 : 1),
    ),
    steps(equipment_id, role) {
      const key = `${equipment_id}\n${role}`
      const series = byId.get(equipment_id)?.roles[role]
      if (!made.has(key) && series) made.set(key, stepsOf(equipment_id, role, series))
      return made.get(key)
    },
    upstream,
    downstream: equipment_id => fed.get(equipment_id) ?? [],
  }
}
