/**
 * An equipment as the rules see it while they are made ready: by place rather than by name, so that what is made ready for
 * one serves every other of its shape.
 */
import type { EquipmentType } from '#shared/core/model/model.ts'
import type { BuildingSignals } from './building-signals.ts'
import { type StepSignal, createStepSignal } from './step-signal.ts'
import type { EquipmentData } from './equipment-data.ts'

/** The place of the equipment itself. */
export const OWN_PLACE = 0

/** A role that is read at a place; `steps` are those of the equipment at hand. */
export type Leaf = { place: number; role: string; steps: StepSignal }

export type EquipmentContext = {
  equipment: EquipmentData
  /** [places] */
  types: (EquipmentType | undefined)[]
  /** Places of what feeds it, nearest first, and of what it feeds. */
  above: number[]
  below: number[]
  /** Places of the machines of the plants that feed it. */
  machines: number[]
  /** Undefined when the role is not mapped there. */
  leaf(place: number, role: string): Leaf | undefined
  /** All that has been asked for, in that order. */
  asked(): LeafRequest[]
}

/** What rules were told of a role: where another equipment would be told the same, they are made ready in the same way. */
export type LeafRequest = { place: number; role: string; leaf: Leaf | undefined; isEmpty: boolean }

type Placing = Pick<BuildingSignals, 'upstream' | 'downstream' | 'machinesAbove'>

/** @returns ids by place */
const placesOf = (equipment_id: string, { upstream, downstream, machinesAbove }: Placing): string[] => [
  equipment_id,
  ...upstream(equipment_id),
  ...downstream(equipment_id),
  ...machinesAbove(equipment_id),
]

export function createEquipmentContext(equipment: EquipmentData, plant: BuildingSignals): EquipmentContext {
  const { equipment_id } = equipment
  const ids = placesOf(equipment_id, plant)
  const typeOf = new Map(plant.equipment.map(each => [each.equipment_id, each.equipment_type]))
  const above = plant.upstream(equipment_id).map((_, i) => OWN_PLACE + 1 + i)
  const below = plant.downstream(equipment_id).map((_, i) => OWN_PLACE + 1 + above.length + i)
  const asked = new Map<string, LeafRequest>()
  return {
    equipment,
    types: ids.map(id => typeOf.get(id)),
    above,
    below,
    machines: ids.map((_, place) => place).slice(OWN_PLACE + 1 + above.length + below.length),
    leaf(place, role) {
      const key = `${place} ${role}`
      const known = asked.get(key)
      if (known) return known.leaf
      const steps = plant.steps(ids[place]!, role)
      const leaf = steps && { place, role, steps }
      asked.set(key, { place, role, leaf, isEmpty: steps?.ts.length === 0 })
      return leaf
    },
    asked: () => [...asked.values()],
  }
}

/**
 * Lets leaves read another equipment.
 *
 * @param asked of an equipment with the same types in the same places
 * @returns false when it would have been told something else of some role
 */
export function bindLeaves(asked: LeafRequest[], equipment_id: string, plant: BuildingSignals): boolean {
  const ids = placesOf(equipment_id, plant)
  return asked.every(({ place, role, leaf, isEmpty }) => {
    const steps = plant.steps(ids[place]!, role)
    if (steps && leaf) leaf.steps = steps
    return (steps === undefined) === (leaf === undefined) && (steps?.ts.length === 0) === isEmpty
  })
}

const NOTHING = createStepSignal('', '', { ts: new Float64Array(0), values: new Float64Array(0), nominalMs: 0 })

/** The samples that leaves read can go. */
export function unbindLeaves(asked: LeafRequest[]): void {
  for (const { leaf } of asked) if (leaf) leaf.steps = NOTHING
}
