/** Commands on the parameters of rules, which the page and the API both call. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { PARAM_SCOPES } from '#shared/core/rules/check/param-settings.ts'
import type { StoredSetting } from '#shared/core/tuning.ts'
import { BACKTEST_DAYS_MAX } from '#shared/flow/fdd/backtest.ts'
import { removeParam, setParam, type SettingName, type SettingRequest, type TuneParts } from '#shared/flow/fdd/tune-param.ts'
import { oneOf } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { Catalogue } from '#shared/central/fdd/rule-views.ts'
import { type Actor, NOTE_MAX } from './command.ts'

const NAME = Type.String({ minLength: 1, maxLength: 128 })

/** The fields that name a setting, with their limits; a form derives its own from these. */
export const SETTING = {
  building_id: ID,
  rule_id: ID,
  param: NAME,
  scope: oneOf(PARAM_SCOPES),
  scope_id: Type.Optional(ID),
  role: Type.Optional(NAME),
}
/** The fields of a value that somebody sets. */
export const SETTING_VALUE = { value: Type.Number(), note: Type.Optional(Type.String({ maxLength: NOTE_MAX })) }
/** The unit of a value; without one it is the parameter's own. */
export const UNIT = Type.Optional(NAME)
export const BACKTEST_DAYS_DEFAULT = 7
/** `BACKTEST_DAYS_DEFAULT` where it is left out. */
export const BACKTEST_DAYS = Type.Optional(Type.Integer({ minimum: 1, maximum: BACKTEST_DAYS_MAX }))

type TuningContext = Pick<CentralContext, 'model' | 'paramSettings' | 'rules'>

/** @returns what the functions on parameters need, with the rules as `catalogue` has them */
export function tuningPorts({ model, paramSettings }: Omit<TuningContext, 'rules'>, { byId }: Catalogue): TuneParts {
  const findRules: TuneParts['findRules'] = ids =>
    new Map([...ids].flatMap(id => (byId.has(id) ? [[id, byId.get(id)!] as const] : [])))
  return { model, paramSettings, findRules }
}

/**
 * Sets a parameter of a rule; the next run uses the value.
 *
 * @param dryRun checks only: nothing is stored or audited
 * @throws Problem unknown_building, unknown_equipment, unknown_rule or invalid
 */
export async function setRuleParam(
  context: TuningContext & Pick<CentralContext, 'clock'>,
  { caller, audit }: Actor,
  request: SettingRequest,
  dryRun = false,
) {
  const by = { changed_by: caller!.subject, changed_at: context.clock.now() }
  const changed = setParam(request, by, tuningPorts(context, await context.rules.catalogue()), dryRun)
  if (!dryRun) audit({ subject: settingSubject(changed.after), ...changed })
  return changed
}

/**
 * Removes a setting, so that the next wider one applies again.
 *
 * @throws Problem unknown_building or not_found
 */
export function removeRuleParam(
  context: Omit<TuningContext, 'rules'>,
  { audit }: Pick<Actor, 'audit'>,
  name: SettingName,
  dryRun = false,
): StoredSetting {
  const before = removeParam(name, context, dryRun)
  if (!dryRun) audit({ subject: settingSubject(before), before })
  return before
}

/** A setting in one line: for the audit and for cursors. */
export const settingSubject = ({ rule_id, param, role, scope, scope_id }: StoredSetting): string =>
  [rule_id, param, ...(role === undefined ? [] : [role]), scope, scope_id].join(' ')
