/** The signals of a run: every role of its equipment as a step function, created once. */
import { isRunningSum, slotSeries } from '#shared/core/priority/array-snapshot.ts'
import type { EquipmentData, RoleSeries } from './equipment-data.ts'
import { createStepSignal, type StepSignal } from './step-signal.ts'
import { createTopology, type EquipmentOutline, type EquipmentTopology, outlineOf, roleKey } from './topology.ts'

export type BuildingSignals = EquipmentTopology & {
  /** @returns undefined when the role is not mapped; empty when it has no samples. Site roles are those of the weather station. */
  signal(equipment_id: string, role: string): StepSignal | undefined
  /** All signals requested so far, by the equipment that has the role and the role. */
  requested: ReadonlyMap<string, StepSignal | undefined>
}

/** The parts that the signals of all equipment of one run share. */
type SharedSignals = {
  topology: EquipmentTopology
  /** A series that several equipment read becomes a step function once. */
  created: WeakMap<RoleSeries, StepSignal>
}

/**
 * @param data of the equipment whose roles will be requested, at least
 * @param origins by `roleKey` of a running sum, its value at the first visit
 */
export function createBuildingSignals(
  data: EquipmentData[],
  { topology, created }: SharedSignals = { topology: createTopology(data.map(outlineOf)), created: new WeakMap() },
  origins: Readonly<Record<string, number>> = {},
): BuildingSignals {
  const byId = new Map(data.map(item => [item.equipment_id, item]))
  const requested = new Map<string, StepSignal | undefined>()
  const create = (holder: EquipmentOutline, role: string, key: string): StepSignal | undefined => {
    const from = byId.get(holder.equipment_id)
    if (holder.roles.includes(role)) {
      const series = from?.roles[role]
      if (!series) throw new Error(`${role} of ${holder.equipment_id} was not loaded`)
      return createOnce(holder.equipment_id, role, series, created)
    }
    const origin = isRunningSum(role) ? origins[key] : undefined
    const series = from && slotSeries(role, from.visits ?? {}, from.visitMs, origin)
    return series && createStepSignal(holder.equipment_id, role, series)
  }
  return {
    ...topology,
    requested,
    signal(equipment_id, role) {
      const holder = topology.holder(equipment_id, role)
      const key = roleKey(holder?.equipment_id ?? '', role)
      if (!requested.has(key)) requested.set(key, holder && create(holder, role, key))
      return requested.get(key)
    },
  }
}

function createOnce(equipment_id: string, role: string, series: RoleSeries, created: SharedSignals['created']): StepSignal {
  const known = created.get(series)
  if (known && known.equipment_id === equipment_id && known.role === role) return known
  const signal = createStepSignal(equipment_id, role, series)
  created.set(series, signal)
  return signal
}
