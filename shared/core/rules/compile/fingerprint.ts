/** What a state hangs on beside the samples: a run goes on from a state only where all of it is as it was. */
import { sha256 } from '#shared/core/findings/finding-id.ts'
import type { CompiledEquipment } from './compile-equipment.ts'
import type { BuildingSignals } from './building-signals.ts'
import type { StepSignal } from './step-signal.ts'
import type { RunPlan } from '#shared/core/rules/evaluate/run-types.ts'

/** Raised whenever the engine would say something else of the same samples, or keeps something else of them. */
const ENGINE = 13

/** Of a state at an instant: a baseline that was begun anew later than that does not touch it. */
export type Fingerprint = (at: number) => string

/** @param above of the equipment whose rules have a say in this one's baselines */
export function createFingerprint(
  equipment_id: string,
  { terms }: Pick<CompiledEquipment, 'terms'>,
  plant: BuildingSignals,
  { timezone, resets = [] }: Pick<RunPlan, 'timezone' | 'resets'>,
  above: Fingerprint[],
): Fingerprint {
  const { upstream, downstream, machinesAbove } = plant
  const around = [equipment_id, ...upstream(equipment_id), '', ...downstream(equipment_id), '', ...machinesAbove(equipment_id)]
  const types = new Map(plant.equipment.map(({ equipment_id: id, equipment_type }) => [id, equipment_type]))
  const placed = around.map(id => [id, types.get(id) ?? null])
  const read = [...plant.asked].map(([key, steps]) => [key, steps ? seriesOf(steps) : null])
  const own = resets.filter(reset => reset.equipment_id === equipment_id)
  const same = JSON.stringify([ENGINE, timezone, placed, terms, read])
  return at => sha256(JSON.stringify([same, own.filter(reset => reset.at < at), above.map(each => each(at))]))
}

/** Whether there are samples at all decides which proof of running counts. */
const seriesOf = ({ point_id, unit, nominalMs, low, high, ts, untrusted }: StepSignal) =>
  [point_id, unit, nominalMs, low, high, ts.length > 0, untrusted].map(each => each ?? null)
