/** Commands on baselines, which the page and the API both call. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import type { BaselineKey, StoredReset } from '#shared/core/tuning.ts'
import { resetBaseline, restoreBaseline } from '#shared/flow/fdd/reset-baseline.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type Actor, NOTE_MAX } from './command.ts'

const NAME = Type.String({ minLength: 1, maxLength: 128 })

/** The fields that name a baseline, with their limits; a form derives its own from these. */
export const BASELINE = { building_id: ID, equipment_id: ID, rule_id: ID, name: NAME, role: Type.Optional(NAME) }
/** Why a baseline is reset: some text that is not only spaces. */
export const RESET_NOTE = Type.String({ minLength: 1, maxLength: NOTE_MAX, pattern: String.raw`\S` })

type BaselineContext = Pick<CentralContext, 'model' | 'baselines'>

/**
 * Resets a baseline: days before `at` no longer count.
 *
 * @param at ms; undefined for now
 * @throws Problem unknown_building, not_found or invalid
 */
export function resetRuleBaseline(
  context: BaselineContext & Pick<CentralContext, 'results' | 'clock'>,
  { caller, audit }: Actor,
  { note, at, ...key }: BaselineKey & { note: string; at: number | undefined },
): { before: StoredReset | undefined; after: StoredReset } {
  needBuilding(context.model, key.building_id)
  const by = { note: note.trim(), changed_by: caller!.subject, changed_at: context.clock.now() }
  const changed = resetBaseline(key, at, by, context)
  audit({ subject: baselineSubject(key), ...changed })
  return changed
}

/**
 * Takes the reset of a baseline back, so that the days before it count again.
 *
 * @throws Problem unknown_building or not_found
 */
export function restoreRuleBaseline(context: BaselineContext, { audit }: Pick<Actor, 'audit'>, key: BaselineKey): StoredReset {
  needBuilding(context.model, key.building_id)
  const before = restoreBaseline(key, context)
  audit({ subject: baselineSubject(key), before })
  return before
}

/** The resets of a building by the subject of their baseline. */
export const resetsBySubject = (
  { baselines }: Pick<CentralContext, 'baselines'>,
  building_id: string,
): Map<string, StoredReset> => new Map(baselines.resets(building_id).map(reset => [baselineSubject(reset), reset]))

/** A baseline in one line: for the audit and for cursors. */
export const baselineSubject = ({ equipment_id, rule_id, role, name }: BaselineKey): string =>
  [equipment_id, rule_id, ...(role === undefined ? [] : [role]), name].join(' ')
