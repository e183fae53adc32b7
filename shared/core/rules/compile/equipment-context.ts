/**
 * An equipment and its neighbours as the compiler sees them: by place instead of by id, so that a template that was compiled
 * for one equipment serves every other of the same structure.
 */
import type { EquipmentType } from '#shared/core/model/model.ts'
import type { BuildingSignals } from './building-signals.ts'
import type { EquipmentData } from './equipment-data.ts'
import { createStepSignal, type StepSignal } from './step-signal.ts'
import type { EquipmentTopology } from './topology.ts'

/** The place of the equipment itself. */
export const OWN_PLACE = 0

/** A role at a place; `signal` is that of the equipment which is being evaluated. */
export type Leaf = { place: number; role: string; signal: StepSignal }

export type EquipmentContext = {
  equipment: EquipmentData
  /** [places] */
  types: (EquipmentType | undefined)[]
  /** Places of the equipment that feeds it, nearest first, and of the equipment that it feeds. */
  above: number[]
  below: number[]
  /** Places of the machines of the plants that feed it. */
  machines: number[]
  /** @returns undefined when the role is not mapped there */
  leaf(place: number, role: string): Leaf | undefined
  /** @returns all requests so far, in their order */
  requests(): LeafRequest[]
}

/** A request for a role with its answer. Another equipment that gives the same answers can use the same template. */
export type LeafRequest = { place: number; role: string; leaf: Leaf | undefined; isEmpty: boolean }

type Neighbours = Pick<EquipmentTopology, 'upstream' | 'downstream' | 'machinesAbove'>

/** @returns ids by place */
const idsByPlace = (equipment_id: string, { upstream, downstream, machinesAbove }: Neighbours): string[] => [
  equipment_id,
  ...upstream(equipment_id),
  ...downstream(equipment_id),
  ...machinesAbove(equipment_id),
]

export function createEquipmentContext(equipment: EquipmentData, signals: BuildingSignals): EquipmentContext {
  const { equipment_id } = equipment
  const ids = idsByPlace(equipment_id, signals)
  const typeOf = new Map(signals.equipment.map(each => [each.equipment_id, each.equipment_type]))
  const above = signals.upstream(equipment_id).map((_, i) => OWN_PLACE + 1 + i)
  const below = signals.downstream(equipment_id).map((_, i) => OWN_PLACE + 1 + above.length + i)
  const requests = new Map<string, LeafRequest>()
  return {
    equipment,
    types: ids.map(id => typeOf.get(id)),
    above,
    below,
    machines: ids.map((_, place) => place).slice(OWN_PLACE + 1 + above.length + below.length),
    leaf(place, role) {
      const key = `${place} ${role}`
      const known = requests.get(key)
      if (known) return known.leaf
      const signal = signals.signal(ids[place]!, role)
      const leaf = signal && { place, role, signal }
      requests.set(key, { place, role, leaf, isEmpty: signal?.ts.length === 0 })
      return leaf
    },
    requests: () => [...requests.values()],
  }
}

/**
 * Lets leaves read another equipment.
 *
 * @param requests of an equipment with the same types in the same places
 * @returns false when the other equipment would have answered a request differently
 */
export function bindLeaves(requests: LeafRequest[], equipment_id: string, signals: BuildingSignals): boolean {
  const ids = idsByPlace(equipment_id, signals)
  return requests.every(({ place, role, leaf, isEmpty }) => {
    const signal = signals.signal(ids[place]!, role)
    if (signal && leaf) leaf.signal = signal
    return (signal === undefined) === (leaf === undefined) && (signal?.ts.length === 0) === isEmpty
  })
}

const NO_SIGNAL = createStepSignal('', '', { ts: new Float64Array(0), values: new Float64Array(0), nominalMs: 0 })

/** Drops the references to samples. */
export function unbindLeaves(requests: LeafRequest[]): void {
  for (const { leaf } of requests) if (leaf) leaf.signal = NO_SIGNAL
}
