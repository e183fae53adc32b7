/** Which equipment of a building feeds which. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import { PLANT_MACHINES } from '#shared/core/rules/language/macros.ts'
import type { EquipmentData } from './equipment-data.ts'

/** Longest chain of equipment that feeds equipment; a longer one is a cycle. */
const CHAIN_MAX = 16

/** Facts about an equipment before any of its samples is read. */
export type EquipmentOutline = Pick<EquipmentData, 'equipment_id' | 'equipment_type' | 'feeds' | 'parent_id'> & {
  /** Mapped roles, and those of them whose priority array is visited. */
  roles: readonly string[]
  visited: readonly string[]
  /**
   * By mapped role, the instant of its first sample ever, ms; roles without samples are left out. Time before the first
   * sample of an equipment does not count as missed. Undefined where this is not known.
   */
  first?: Readonly<Record<string, number>>
}

export type EquipmentTopology = {
  /** Equipment that feeds others comes first, so that its activity is known when theirs is evaluated. */
  equipment: EquipmentOutline[]
  /** Undefined where the building has no such equipment. */
  typeOf(equipment_id: string): EquipmentType | undefined
  /** The equipment that feeds it, nearest first; one of each type at each step. */
  upstream(equipment_id: string): string[]
  /** The equipment that it feeds directly, ordered by id. */
  downstream(equipment_id: string): string[]
  /** The machines of the plants that feed it, unless it is one of them. */
  machinesAbove(equipment_id: string): string[]
  /** The equipment that a fault of this one may affect: itself and all that it feeds; for a weather station all equipment. */
  reach(equipment_id: string): Set<string>
  /** The equipment whose role this one reads: itself, or the weather station for a site role that it lacks. */
  holder(equipment_id: string, role: string): EquipmentOutline | undefined
}

/** Roles that serve the whole site: equipment without its own reads those of the weather station. */
export const SITE_ROLE = /^wx_/

export const roleKey = (equipment_id: string, role: string): string => `${equipment_id}\n${role}`

export function outlineOf(data: EquipmentData): EquipmentOutline {
  const { equipment_id, equipment_type, feeds, parent_id, roles, visits = {} } = data
  return {
    equipment_id,
    equipment_type,
    feeds,
    ...(parent_id !== undefined && { parent_id }),
    roles: Object.keys(roles),
    visited: Object.keys(visits),
    first: Object.fromEntries(
      Object.entries(roles).flatMap(([role, { ts }]) => (ts.length > 0 ? [[role, ts.reduce((a, b) => Math.min(a, b))]] : [])),
    ),
  }
}

/**
 * @param keys by `roleKey`, the roles that are read
 * @returns the first sample among those roles of the equipment; Infinity when none has a sample
 */
export function firstSampleOf({ equipment_id, first }: EquipmentOutline, keys: Iterable<string>): number {
  if (!first) return -Infinity
  const known = new Map(Object.entries(first).map(([role, at]) => [roleKey(equipment_id, role), at]))
  return Math.min(...[...keys].map(key => known.get(key) ?? Infinity))
}

export function createTopology(equipment: EquipmentOutline[]): EquipmentTopology {
  const byId = new Map(equipment.map(item => [item.equipment_id, item]))
  const parents = parentsOf(equipment, byId)
  const fed = new Map<string, string[]>()
  for (const id of [...parents.keys()].toSorted()) {
    for (const parent of parents.get(id)!) fed.set(parent, [...(fed.get(parent) ?? []), id])
  }
  const typeOf = (equipment_id: string) => byId.get(equipment_id)?.equipment_type
  const levelsAbove = (equipment_id: string): string[][] => {
    const levels: string[][] = []
    const seen = new Set([equipment_id])
    let next = parents.get(equipment_id) ?? []
    while (next.length > 0 && levels.length < CHAIN_MAX) {
      const level = [...new Set(next)].filter(id => !seen.has(id))
      for (const id of level) seen.add(id)
      if (level.length > 0) levels.push(level)
      next = level.flatMap(id => parents.get(id) ?? [])
    }
    return levels
  }
  const upstream = (equipment_id: string): string[] => levelsAbove(equipment_id).flat()
  const downstream = (equipment_id: string): string[] => fed.get(equipment_id) ?? []
  const machinesOf = (equipment_id: string): string[] => {
    const types = PLANT_MACHINES[typeOf(equipment_id)!] ?? []
    return downstream(equipment_id).filter(id => types.includes(typeOf(id)!))
  }
  const depthOf = ({ equipment_id, equipment_type }: EquipmentOutline) =>
    equipment_type === 'weather' ? -1 : upstream(equipment_id).length
  const depths = new Map(equipment.map(each => [each.equipment_id, depthOf(each)]))
  const stations = equipment.filter(({ equipment_type }) => equipment_type === 'weather').toSorted(byEquipmentId)
  return {
    equipment: equipment.toSorted((a, b) => depths.get(a.equipment_id)! - depths.get(b.equipment_id)! || byEquipmentId(a, b)),
    typeOf,
    upstream,
    downstream,
    machinesAbove: equipment_id =>
      upstream(equipment_id).flatMap(id => {
        const machines = machinesOf(id)
        return machines.includes(equipment_id) ? [] : machines
      }),
    reach(equipment_id) {
      if (typeOf(equipment_id) === 'weather') return new Set(byId.keys())
      const found = new Set([equipment_id])
      for (const id of found) for (const below of downstream(id)) found.add(below)
      return found
    },
    holder(equipment_id, role) {
      const own = byId.get(equipment_id)
      return own?.roles.includes(role) || !SITE_ROLE.test(role) ? own : stations.find(({ roles }) => roles.includes(role))
    },
  }
}

/**
 * A box has an air handler and a hot-water plant, a fan coil two plants: of each type of equipment one may feed another.
 *
 * @returns by equipment id, the equipment that feeds it; `parent_id` comes first and takes precedence over others of its type
 */
function parentsOf(equipment: EquipmentOutline[], byId: ReadonlyMap<string, EquipmentOutline>): Map<string, string[]> {
  const parents = new Map<string, Map<EquipmentType, string>>()
  const link = (fed: string, parent: string) => {
    const own = parents.get(fed) ?? new Map<EquipmentType, string>()
    parents.set(fed, own.set(byId.get(parent)!.equipment_type, parent))
  }
  const stated = equipment.filter(({ parent_id }) => parent_id && byId.has(parent_id))
  for (const { equipment_id, parent_id } of stated) link(equipment_id, parent_id!)
  for (const { equipment_id, feeds } of equipment) for (const fed of feeds) if (byId.has(fed)) link(fed, equipment_id)
  for (const { equipment_id, parent_id } of stated) link(equipment_id, parent_id!)
  return new Map([...parents].map(([fed, byType]) => [fed, [...byType.values()]]))
}

const byEquipmentId = (a: EquipmentOutline, b: EquipmentOutline): number => (a.equipment_id < b.equipment_id ? -1 : 1)
