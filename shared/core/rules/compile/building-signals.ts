/** The equipment of one run, with who feeds whom and every role as a step function, made once. */
import { isRunningSum, slotSeries } from '#shared/core/priority/array-snapshot.ts'
import { PLANT_MACHINES } from '#shared/core/rules/language/macros.ts'
import { type StepSignal, createStepSignal } from './step-signal.ts'
import type { EquipmentData, RoleSeries } from './equipment-data.ts'

/** Longest chain of equipment that feeds equipment: a longer one is a ring. */
const CHAIN_MAX = 16

/** What is known of an equipment before any of its samples is read. */
export type EquipmentOutline = Pick<EquipmentData, 'equipment_id' | 'equipment_type' | 'feeds' | 'parent_id'> & {
  /** Mapped roles, and those of them whose priority array is visited. */
  roles: readonly string[]
  visited: readonly string[]
  /**
   * By mapped role, the instant of its first sample ever, ms; a role without samples is left out. Time before the first
   * sample of an equipment is not missed. Where this is undefined, nothing is known of it.
   */
  first?: Readonly<Record<string, number>>
}

/** Who is there and who feeds whom. */
export type EquipmentTopology = {
  /** What feeds others comes first, so that its activity is known when theirs is judged. */
  equipment: EquipmentOutline[]
  /** What feeds it, nearest first. */
  upstream(equipment_id: string): string[]
  /** What it feeds, in the order of their ids. */
  downstream(equipment_id: string): string[]
  /** The machines of the plants that feed it, unless it is one of them. */
  machinesAbove(equipment_id: string): string[]
  /** What may be judged wrongly when this is faulty: itself with all that it feeds; for a weather station everything. */
  reach(equipment_id: string): Set<string>
  /** Whose role it is that an equipment reads: its own, or the weather station's where it has none. */
  holder(equipment_id: string, role: string): EquipmentOutline | undefined
}

export type BuildingSignals = EquipmentTopology & {
  /** Undefined when the role is not mapped; without samples it is there and empty. The weather's roles are the site's. */
  steps(equipment_id: string, role: string): StepSignal | undefined
  /** All that has been asked for, by holder and role. */
  asked: ReadonlyMap<string, StepSignal | undefined>
}

/** Roles that serve the whole site: equipment without its own reads those of the weather station. */
export const SITE_ROLE = /^wx_/

export const roleKey = (equipment_id: string, role: string): string => `${equipment_id}\n${role}`

export const outlineOf = ({
  equipment_id,
  equipment_type,
  feeds,
  parent_id,
  roles,
  visits = {},
}: EquipmentData): EquipmentOutline => ({
  equipment_id,
  equipment_type,
  feeds,
  ...(parent_id !== undefined && { parent_id }),
  roles: Object.keys(roles),
  visited: Object.keys(visits),
  first: Object.fromEntries(
    Object.entries(roles).flatMap(([role, { ts }]) => (ts.length > 0 ? [[role, ts.reduce((a, b) => Math.min(a, b))]] : [])),
  ),
})

/** @returns the first sample among the roles of the equipment that are asked for; Infinity when none has one */
export function firstSampleOf({ equipment_id, first }: EquipmentOutline, asked: Iterable<string>): number {
  if (!first) return -Infinity
  const known = new Map(Object.entries(first).map(([role, at]) => [roleKey(equipment_id, role), at]))
  return Math.min(...[...asked].map(key => known.get(key) ?? Infinity))
}

export function createTopology(equipment: EquipmentOutline[]): EquipmentTopology {
  const byId = new Map(equipment.map(item => [item.equipment_id, item]))
  const parents = new Map<string, string>()
  for (const { equipment_id, feeds } of equipment) for (const fed of feeds) if (byId.has(fed)) parents.set(fed, equipment_id)
  for (const { equipment_id, parent_id } of equipment) if (parent_id && byId.has(parent_id)) parents.set(equipment_id, parent_id)
  const fed = Map.groupBy([...parents.keys()].toSorted(), id => parents.get(id)!)
  const upstream = (equipment_id: string): string[] => {
    const chain: string[] = []
    let next = parents.get(equipment_id)
    while (next !== undefined && chain.length < CHAIN_MAX && !chain.includes(next) && next !== equipment_id) {
      chain.push(next)
      next = parents.get(next)
    }
    return chain
  }
  const byName = (a: EquipmentOutline, b: EquipmentOutline) => (a.equipment_id < b.equipment_id ? -1 : 1)
  const stations = equipment.filter(({ equipment_type }) => equipment_type === 'weather').toSorted(byName)
  const depths = new Map(
    equipment.map(({ equipment_id, equipment_type }) => [
      equipment_id,
      equipment_type === 'weather' ? -1 : upstream(equipment_id).length,
    ]),
  )
  const downstream = (equipment_id: string): string[] => fed.get(equipment_id) ?? []
  const typeOf = (equipment_id: string) => byId.get(equipment_id)?.equipment_type
  const machinesOf = (equipment_id: string): string[] => {
    const types = PLANT_MACHINES[typeOf(equipment_id)!] ?? []
    return downstream(equipment_id).filter(id => types.includes(typeOf(id)!))
  }
  return {
    equipment: equipment.toSorted((a, b) => depths.get(a.equipment_id)! - depths.get(b.equipment_id)! || byName(a, b)),
    upstream,
    downstream,
    machinesAbove: equipment_id =>
      upstream(equipment_id).flatMap(id => {
        const machines = machinesOf(id)
        return machines.includes(equipment_id) ? [] : machines
      }),
    reach(equipment_id) {
      if (byId.get(equipment_id)?.equipment_type === 'weather') return new Set(byId.keys())
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

/** What plants of one run share. */
export type SharedSignals = {
  site: EquipmentTopology
  /** A series that serves more than one equipment is put in order once. */
  made: WeakMap<RoleSeries, StepSignal>
}

/**
 * @param data of the equipment whose roles will be asked for, at least
 * @param origins by `roleKey` of a running sum, what it is at the first visit
 */
export function createBuildingSignals(
  data: EquipmentData[],
  { site, made }: SharedSignals = { site: createTopology(data.map(outlineOf)), made: new WeakMap() },
  origins: Readonly<Record<string, number>> = {},
): BuildingSignals {
  const byId = new Map(data.map(item => [item.equipment_id, item]))
  const asked = new Map<string, StepSignal | undefined>()
  const make = (holder: EquipmentOutline, role: string, key: string): StepSignal | undefined => {
    const from = byId.get(holder.equipment_id)
    if (holder.roles.includes(role)) {
      const series = from?.roles[role]
      if (!series) throw new Error(`${role} of ${holder.equipment_id} was not loaded`)
      return stepsOnce(holder.equipment_id, role, series, made)
    }
    const origin = isRunningSum(role) ? origins[key] : undefined
    const series = from && slotSeries(role, from.visits ?? {}, from.visitMs, origin)
    return series && createStepSignal(holder.equipment_id, role, series)
  }
  return {
    ...site,
    asked,
    steps(equipment_id, role) {
      const holder = site.holder(equipment_id, role)
      const key = roleKey(holder?.equipment_id ?? '', role)
      if (!asked.has(key)) asked.set(key, holder && make(holder, role, key))
      return asked.get(key)
    },
  }
}

function stepsOnce(equipment_id: string, role: string, series: RoleSeries, made: SharedSignals['made']): StepSignal {
  const known = made.get(series)
  if (known && known.equipment_id === equipment_id && known.role === role) return known
  const steps = createStepSignal(equipment_id, role, series)
  made.set(series, steps)
  return steps
}
