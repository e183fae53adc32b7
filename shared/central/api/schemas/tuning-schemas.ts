/** What the API answers of parameters, backtests, baselines, quantities and prices. */
import { Type } from '@sinclair/typebox'
import { RESULT_REASONS } from '#shared/core/findings/finding.ts'
import { PARAM_SCOPES } from '#shared/core/rules/check/param-settings.ts'
import { EPISODE_CHANGES } from '#shared/core/rules/report/compare-findings.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { PRICES, QUANTITY } from '#shared/central/commands/quantities.ts'
import { answerOf, BASELINE_VIEW, INSTANT_TEXT, NOTICE, orNull, pageAnswer } from './record-schemas.ts'

const TEXT = Type.String()
const COUNT = Type.Integer({ minimum: 0 })
const maybe = Type.Optional

const PARAM_SETTING = {
  ...{ rule_id: TEXT, param: TEXT, scope: oneOf(PARAM_SCOPES), scope_id: TEXT, role: maybe(TEXT) },
  ...{ value: Type.Number(), unit: TEXT },
}
const SETTING = Type.Object({
  ...PARAM_SETTING,
  ...{ site_id: TEXT, building_id: maybe(TEXT), note: maybe(TEXT), changed_by: TEXT, changed_at: INSTANT_TEXT },
  problem: maybe(Type.String({ description: 'why it does not count' })),
})
const { properties: settings } = pageAnswer('settings', SETTING)
export const SETTINGS_ANSWER = Type.Object({ ...settings, notice: NOTICE })
export const SETTING_ANSWER = answerOf({ setting: SETTING, before: maybe(SETTING), notice: NOTICE })
export const SETTING_REMOVED = answerOf({ removed: SETTING, notice: NOTICE })

const IN_USE = Type.Object({
  ...{ value: Type.Number(), source: oneOf(['default', ...PARAM_SCOPES]), equipment_ids: Type.Array(TEXT) },
})
const PARAM = Type.Object({
  ...{ param: TEXT, default: Type.Number(), min: Type.Number(), max: Type.Number(), unit: TEXT },
  ...{ per_role: maybe(Type.Record(TEXT, Type.Number())), in_use: Type.Array(IN_USE) },
})
export const PARAMS_ANSWER = answerOf({ building_id: TEXT, rule_id: TEXT, params: Type.Array(PARAM), notice: NOTICE })

const SUM = Type.Object({ episodes: COUNT, fault_secs: Type.Number() })
const OUTCOME = maybe(
  Type.Object({
    ...{ status: oneOf(['fault', 'pass', 'not_evaluated']), reason: maybe(oneOf(RESULT_REASONS)), coverage: Type.Number() },
  }),
)
const EPISODE = Type.Object({
  ...{ change: oneOf(EPISODE_CHANGES), role: maybe(TEXT), from: INSTANT_TEXT, to: orNull(INSTANT_TEXT) },
  ...{ duration_secs: Type.Number(), silenced: Type.Boolean(), sentence: TEXT, before_secs: maybe(Type.Number()) },
})
const COMPARED = Type.Object({
  ...{ equipment_id: TEXT, before: SUM, after: SUM, result_before: OUTCOME, result_after: OUTCOME },
  episodes: Type.Array(EPISODE),
})
const [appears, goes, stays] = [COUNT, COUNT, COUNT]
export const BACKTEST_ANSWER = answerOf({
  ...{ building_id: TEXT, rule_id: TEXT, from: INSTANT_TEXT, to: INSTANT_TEXT, is_deployed: Type.Boolean() },
  settings: Type.Array(Type.Object(PARAM_SETTING)),
  counts: Type.Object({
    ...{ before: COUNT, after: COUNT, before_secs: Type.Number(), after_secs: Type.Number() },
    ...{ appears, goes, stays },
  }),
  equipment: Type.Array(COMPARED),
  failed: Type.Array(Type.Object({ equipment_id: TEXT, error: TEXT })),
  truncated: Type.Boolean({ description: 'there are more episodes than are listed' }),
  notice: NOTICE,
})

const RESET = Type.Object({ at: INSTANT_TEXT, note: TEXT, changed_by: TEXT, changed_at: INSTANT_TEXT })
const STORED_BASELINE = Type.Object({
  ...BASELINE_VIEW.properties,
  ...{ rule_id: TEXT, equipment_id: TEXT, role: maybe(TEXT), building_id: TEXT },
  date: Type.String({ description: 'the building date for which it stood' }),
  reset: maybe(RESET),
})
const { properties: baselines } = pageAnswer('baselines', STORED_BASELINE)
export const BASELINES_ANSWER = Type.Object({ ...baselines, notice: NOTICE })
export const RESET_ANSWER = answerOf({ reset: RESET, before: maybe(RESET), notice: NOTICE })
export const RESTORED_ANSWER = answerOf({ restored: RESET, notice: NOTICE })

const { properties: quantities } = pageAnswer('quantities', QUANTITY)
export const QUANTITIES_ANSWER = Type.Object({ ...quantities, notice: NOTICE })
export const QUANTITIES_SAVED = answerOf({
  ...{ saved: COUNT, repriced: Type.Integer({ description: 'findings whose cost changed' }) },
  unusable: Type.Array(Type.Object({ quantity_id: TEXT, why: TEXT })),
  notice: NOTICE,
})
const { building_id: _building, ...carriers } = PRICES.properties
const ENERGY_PRICES = Type.Object(carriers)
export const PRICES_ANSWER = answerOf({ building_id: TEXT, prices: orNull(ENERGY_PRICES), notice: NOTICE })
export const PRICES_SAVED = answerOf({ building_id: TEXT, prices: ENERGY_PRICES, repriced: COUNT, notice: NOTICE })
