/** What the API answers of analytics. A share is 0 to 1, a temperature °C, a difference K. */
import { Type } from '@sinclair/typebox'
import { CELL_KINDS } from '#shared/core/analytics/economizer-cells.ts'
import { VERDICTS } from '#shared/core/analytics/economizer-verdict.ts'
import { COMFORT_LIMITS, COMFORT_TIMES } from '#shared/core/analytics/operations-plan.ts'
import { EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { answerOf, INSTANT_TEXT, orNull } from './record-schemas.ts'

const TEXT = Type.String()
const COUNT = Type.Integer({ minimum: 0 })
const NUMBER = Type.Number()
const FIGURE = orNull(NUMBER)
const maybe = Type.Optional
const SPAN = { building_id: TEXT, from: INSTANT_TEXT, to: INSTANT_TEXT }

const DAMPER_BIN = Type.Object({
  ...{ from: NUMBER, to: NUMBER, hours: NUMBER, position: NUMBER },
  ...{ low: NUMBER, q1: NUMBER, median: NUMBER, q3: NUMBER, high: NUMBER, residual: NUMBER },
})
const AT_END = orNull(Type.Object({ hours: NUMBER, median: NUMBER }))
const TEMPERATURE_BIN = Type.Object({ from: NUMBER, hours: NUMBER, damper: NUMBER, cooling_hours: NUMBER })
const FREE_COOLING = Type.Object({
  ...{ above_limit_hours: NUMBER, above_limit_open_hours: NUMBER },
  ...{ suitable_hours: NUMBER, used_hours: NUMBER, missed_hours: NUMBER, changeover: FIGURE },
  bins: Type.Array(TEMPERATURE_BIN),
})
/** What follows `verdict` is absent where roles are missing. */
const AIR_HANDLER = Type.Object({
  ...{ equipment_id: TEXT, name: TEXT, missing_roles: Type.Array(TEXT) },
  verdict: Type.Object({ code: oneOf(VERDICTS), sentence: TEXT }),
  hours: maybe(Type.Object(Object.fromEntries(CELL_KINDS.map(kind => [kind, NUMBER])))),
  bins: maybe(Type.Array(DAMPER_BIN, { description: 'shares of outdoor air by damper position' })),
  fit: maybe(orNull(Type.Object({ slope: NUMBER, intercept: NUMBER, r2: NUMBER }))),
  residuals: maybe(orNull(Type.Object({ median: NUMBER, mean_abs: NUMBER }))),
  ...{ contradicting_hours: maybe(NUMBER), shut: maybe(AT_END), open: maybe(AT_END), free_cooling: maybe(FREE_COOLING) },
  points: maybe(Type.Array(Type.Object({ at: INSTANT_TEXT, damper: NUMBER, share: NUMBER }))),
})
export const ECONOMIZER_ANSWER = answerOf({
  ...{ ...SPAN, dt_min: Type.Number({ description: 'K' }), high_limit: Type.Number({ description: '°C' }) },
  equipment: Type.Array(AIR_HANDLER),
})

/** Null where nothing is known. */
const FIGURES = {
  ...{ running_hours: FIGURE, known_hours: NUMBER, starts: FIGURE, comfort_share: FIGURE, comfort_known_hours: NUMBER },
  ...{ too_warm_hours: FIGURE, too_cold_hours: FIGURE, zone_t_mean: orNull(Type.Number({ description: '°C' })) },
}
const FAULTS = { fault_hours: NUMBER, findings: COUNT, open: COUNT }
const OPERATED = Type.Object({
  ...{ equipment_id: TEXT, name: TEXT, equipment_type: oneOf(EQUIPMENT_TYPES), ...FAULTS, ...FIGURES },
  ...{ run_role: maybe(orNull(TEXT)), comfort_time: maybe(oneOf(COMFORT_TIMES)), comfort_limits: maybe(oneOf(COMFORT_LIMITS)) },
})
export const OPERATIONS_ANSWER = answerOf({
  ...{ ...SPAN, timezone: Type.String({ description: 'IANA' }), history_read_at: INSTANT_TEXT },
  building: Type.Object({ ...FIGURES, ...FAULTS }),
  days: Type.Array(Type.Object({ date: Type.String({ format: 'date' }), ...FIGURES })),
  equipment: Type.Array(OPERATED),
  findings_cut: maybe(Type.Integer({ description: 'only so many of the newest findings were counted' })),
})

const SCREENED = { points_scored: COUNT, scored_hours: COUNT, anomalies_total: COUNT }
export const SCREENING_STATUS = answerOf({
  ...{ enabled: Type.Boolean(), weeks: Type.Integer({ description: 'of the past that hours are compared with' }) },
  screened: Type.Array(Type.Object({ building_id: TEXT, at: INSTANT_TEXT, ...SCREENED })),
})
/** In the unit of the point. */
const HOUR = Type.Object({ at: INSTANT_TEXT, value: NUMBER, expected: NUMBER, sigma: NUMBER, score: NUMBER })
const ANOMALY = Type.Object({
  ...{ point_id: TEXT, name: TEXT, equipment_id: orNull(TEXT), role: orNull(TEXT), unit: TEXT },
  ...{ from: INSTANT_TEXT, to: INSTANT_TEXT, hours: COUNT, worst: HOUR },
})
export const SCORES_ANSWER = answerOf({
  ...{ ...SPAN, min_score: NUMBER, screened_at: INSTANT_TEXT, ...SCREENED },
  not_scored: Type.Object({ no_data: COUNT, insufficient_history: COUNT, never_changes: COUNT }),
  anomalies: Type.Array(ANOMALY, { description: 'the most unusual first' }),
  series: maybe(Type.Array(Type.Object({ point_id: TEXT, hours: Type.Array(HOUR) }), { description: 'of one point' })),
})
