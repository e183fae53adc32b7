import { Problem } from '#shared/core/problem.ts'
import type { ResultReader } from '#shared/core/ports.ts'
import type { BaselineKey, BaselineStore, StoredReset } from '#shared/core/tuning.ts'

type ResetParts = { baselines: BaselineStore; results: Pick<ResultReader, 'latestOf'> }

/**
 * Resets a baseline: from the day of `at` on, days that began before it do not count. Earlier findings retain the baseline
 * that they were compared with.
 *
 * @param at ms; undefined for now, or for the end of the last evaluation when history ended earlier
 * @param by who resets it, why, and when (ms)
 * @throws Problem not_found for a baseline that no run has calculated, or invalid for an instant in the future
 */
export function resetBaseline(
  key: BaselineKey,
  at: number | undefined,
  by: Pick<StoredReset, 'note' | 'changed_by' | 'changed_at'>,
  { baselines, results }: ResetParts,
): { before: StoredReset | undefined; after: StoredReset } {
  const { building_id, equipment_id, rule_id, role, name } = key
  if (!baselines.get(key)) throw new Problem('not_found', `No run has seen a baseline ${name} of ${rule_id} on ${equipment_id}`)
  if (at !== undefined && at > by.changed_at) {
    const message = 'A baseline begins anew at an instant that has come'
    throw new Problem('invalid', message, [{ pointer: '/at', message }])
  }
  const last = results.latestOf(building_id, equipment_id, rule_id)
  const instant = at ?? Math.min(by.changed_at, (last?.looked_to ?? Infinity) - 1)
  const after: StoredReset = { building_id, equipment_id, rule_id, name, at: instant, ...by, ...(role !== undefined && { role }) }
  const before = findReset(key, baselines)
  baselines.reset(after)
  return { before, after }
}

/** Lets the days before a reset count again. @throws Problem not_found when there is no reset */
export function restoreBaseline(key: BaselineKey, { baselines }: Pick<ResetParts, 'baselines'>): StoredReset {
  const before = findReset(key, baselines)
  if (!before) throw new Problem('not_found', `The baseline ${key.name} of ${key.rule_id} on ${key.equipment_id} was not reset`)
  baselines.restore(key)
  return before
}

const findReset = (
  { building_id, equipment_id, rule_id, role, name }: BaselineKey,
  baselines: Pick<BaselineStore, 'resets'>,
): StoredReset | undefined =>
  baselines
    .resets(building_id)
    .find(one => one.equipment_id === equipment_id && one.rule_id === rule_id && one.role === role && one.name === name)
