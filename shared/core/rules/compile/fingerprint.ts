/** Everything that a saved state depends on besides the samples. A run resumes from a state only where all of it is the same. */
import { sha256 } from '#shared/core/findings/finding-id.ts'
import type { RunPlan } from '#shared/core/rules/evaluate/run-types.ts'
import type { BuildingSignals } from './building-signals.ts'
import type { CompiledEquipment } from './compile-equipment.ts'
import type { StepSignal } from './step-signal.ts'

/** Raised whenever the engine gives another result for the same samples, or saves something else of them. */
const ENGINE_VERSION = 22

/** The fingerprint of a state at an instant. A baseline that was reset later than that does not change it. */
export type Fingerprint = (at: number) => string

/** @param above fingerprints of the equipment whose rules affect this one's baselines */
export function createFingerprint(
  equipment_id: string,
  { contentHash }: Pick<CompiledEquipment, 'contentHash'>,
  signals: BuildingSignals,
  { timezone, resets = [], overrideLevels = [] }: Pick<RunPlan, 'timezone' | 'resets' | 'overrideLevels'>,
  above: Fingerprint[],
): Fingerprint {
  const { upstream, downstream, machinesAbove, typeOf } = signals
  const ids = [equipment_id, ...upstream(equipment_id), '', ...downstream(equipment_id), '', ...machinesAbove(equipment_id)]
  const neighbours = ids.map(id => [id, typeOf(id) ?? null])
  const read = [...signals.requested].map(([key, signal]) => [key, signal ? propertiesOf(signal) : null])
  const own = resets.filter(reset => reset.equipment_id === equipment_id)
  const fixed = JSON.stringify([ENGINE_VERSION, timezone, neighbours, contentHash, read, overrideLevels])
  return at => sha256(JSON.stringify([fixed, own.filter(reset => reset.at < at), above.map(each => each(at))]))
}

/** Whether a role has samples at all decides which proof of running counts. */
const propertiesOf = ({ point_id, unit, nominalMs, reportsChanges, low, high, ts, untrusted }: StepSignal) =>
  [point_id, unit, nominalMs, reportsChanges, low, high, ts.length > 0, untrusted].map(each => each ?? null)
