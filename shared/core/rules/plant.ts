/** The equipment of one run, with who feeds whom and every role as a step function, made once. */
import { slotSeries } from '../priority/visits.ts'
import { type Steps, stepsOf } from './steps.ts'
import type { EquipmentData } from './types.ts'

/** Longest chain of equipment that feeds equipment: a longer one is a ring. */
const CHAIN_MAX = 16

export type Plant = {
  equipment: EquipmentData[]
  /** Undefined when the role is not mapped; without samples it is there and empty. The weather's roles are the site's. */
  steps(equipment_id: string, role: string): Steps | undefined
  /** What feeds it, nearest first. */
  upstream(equipment_id: string): string[]
  /** What it feeds, in the order of their ids. */
  downstream(equipment_id: string): string[]
  /** What may be judged wrongly when this is faulty: itself with all that it feeds; for a weather station everything. */
  reach(equipment_id: string): Set<string>
}

/** Roles that serve the whole site: equipment without its own reads those of the weather station. */
const OF_SITE = /^wx_/

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
  const stations = equipment
    .filter(({ equipment_type }) => equipment_type === 'weather')
    .toSorted((a, b) => (a.equipment_id < b.equipment_id ? -1 : 1))
  const holder = (equipment_id: string, role: string): EquipmentData | undefined => {
    const own = byId.get(equipment_id)
    return own?.roles[role] || !OF_SITE.test(role) ? own : stations.find(({ roles }) => roles[role])
  }
  const depth = ({ equipment_id, equipment_type }: EquipmentData): number =>
    equipment_type === 'weather' ? -1 : upstream(equipment_id).length
  const downstream = (equipment_id: string): string[] => fed.get(equipment_id) ?? []
  return {
    // What feeds others comes first, so that its activity is known when theirs is judged.
    equipment: equipment.toSorted((a, b) => depth(a) - depth(b) || (a.equipment_id < b.equipment_id ? -1 : 1)),
    steps(equipment_id, role) {
      const from = holder(equipment_id, role)
      const key = `${from?.equipment_id}\n${role}`
      const series = made.has(key) || !from ? undefined : (from.roles[role] ?? slotSeries(role, from.visits ?? {}))
      if (from && series) made.set(key, stepsOf(from.equipment_id, role, series))
      return made.get(key)
    },
    upstream,
    downstream,
    reach(equipment_id) {
      if (byId.get(equipment_id)?.equipment_type === 'weather') return new Set(byId.keys())
      const found = new Set([equipment_id])
      for (const id of found) for (const below of downstream(id)) found.add(below)
      return found
    },
  }
}
