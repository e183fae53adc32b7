/** What the API answers of runs: their state, and what the newest one says of each rule and equipment. */
import { Type } from '@sinclair/typebox'
import { RESULT_REASONS, RESULT_STATES } from '#shared/core/findings/finding.ts'
import { EQUIPMENT_RECORD, INSTANT_TEXT, answerOf, orNull } from './record-schemas.ts'
import { oneOf } from '#shared/node/http/route.ts'

const TEXT = Type.String()
const COUNT = Type.Integer({ minimum: 0 })
const maybe = Type.Optional

/** By state; a run of an earlier version has others. */
const COUNTS = Type.Record(TEXT, COUNT)
const FAILED = Type.Array(Type.Object({ rule_id: TEXT, error: TEXT }))

export const RUN_RECORD = Type.Object({
  ...{ run_id: TEXT, building_id: TEXT, trigger: oneOf(['schedule', 'request', 'file']) },
  state: oneOf(['queued', 'running', 'done', 'failed', 'cancelled']),
  ...{ asked_at: INSTANT_TEXT, started_at: orNull(INSTANT_TEXT), finished_at: orNull(INSTANT_TEXT) },
  reason: maybe(Type.String({ description: 'why it failed, or who cancelled it' })),
  step: maybe(oneOf(['rules', 'history', 'evaluation'])),
  ...{ equipment_done: maybe(COUNT), equipment_total: maybe(COUNT), rules: maybe(COUNT) },
  ...{ from: maybe(INSTANT_TEXT), to: maybe(INSTANT_TEXT), rule_ids: maybe(Type.Array(TEXT)) },
  ...{ failed: maybe(FAILED), counts: maybe(COUNTS), reasons: maybe(COUNTS) },
})
export const RUN_ANSWER = answerOf({ run: RUN_RECORD })

const SHORTFALL = Type.Object({
  of: oneOf(['persistence', 'daily_minimum', 'window']),
  ...{ held_secs: Type.Number(), needs_secs: Type.Number() },
})
const RESULT = {
  ...{ rule_id: TEXT, equipment_id: TEXT, status: oneOf(['fault', 'pass', 'not_evaluated']), state: oneOf(RESULT_STATES) },
  ...{ reason: maybe(oneOf(RESULT_REASONS)), missing_roles: maybe(Type.Array(TEXT)) },
  coverage: Type.Number({ minimum: 0, maximum: 1 }),
  ...{ version: maybe(TEXT), fault_secs: Type.Number(), episodes: COUNT, untrusted_secs: maybe(Type.Number()) },
  unconfirmed: maybe(Type.Object({ date: TEXT, role: maybe(TEXT), short: Type.Array(SHORTFALL) })),
  sampling: maybe(Type.Object({ every_secs: Type.Number(), needs_secs: Type.Number() })),
}
export const LATEST_RESULT = Type.Object({
  ...RESULT,
  ...{ run_id: TEXT, finished_at: INSTANT_TEXT, looked_to: INSTANT_TEXT },
  ...{ evaluated_to: maybe(INSTANT_TEXT), evaluated_as: maybe(TEXT) },
})

/** Of a run that was waited for; one that was not is in `run`. */
export const RUN_REPLY = answerOf({
  ...{ run_id: TEXT, run: maybe(RUN_RECORD), building_id: maybe(TEXT), from: maybe(INSTANT_TEXT), to: maybe(INSTANT_TEXT) },
  ...{ rules_run: maybe(COUNT), rules_succeeded: maybe(COUNT), rules_failed: maybe(COUNT), rules_skipped: maybe(COUNT) },
  ...{ counts: maybe(COUNTS), results: maybe(Type.Array(Type.Object(RESULT))), days: maybe(Type.Array(Type.Unknown())) },
  ...{ failed: maybe(FAILED), timings: maybe(Type.Array(Type.Object({ step: TEXT, ms: Type.Number() }))) },
  total_ms: maybe(Type.Number()),
})

const { properties } = EQUIPMENT_RECORD
export const EQUIPMENT_STATE = Type.Object({
  ...properties,
  ...{ points: COUNT, roles: Type.Array(TEXT), active_findings: COUNT, results: COUNTS, missing_roles: Type.Array(TEXT) },
})
