/** What the API answers with, as the OpenAPI document states it: the schemas of the records that `../record-views.ts` shows. */
import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { ENDINGS, FINDING_KINDS } from '#shared/core/findings/finding.ts'
import { SNOOZE_SCOPES } from '#shared/core/findings/snooze.ts'
import { URGENCIES } from '#shared/core/findings/urgency.ts'
import { CARRIERS } from '#shared/core/impact/kinds.ts'
import { EQUIPMENT_TYPES, POINT_KINDS, PROTOCOLS, UNIT_SYSTEMS } from '#shared/core/model/model.ts'
import { QUALITIES } from '#shared/core/telemetry/reading.ts'
import { oneOf } from '#shared/node/http/route.ts'

const TEXT = Type.String()
const maybe = Type.Optional
export const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()])

/** RFC 3339 in UTC. */
export const INSTANT_TEXT = Type.String({ format: 'date-time' })
/** What a successful answer has. */
export const answerOf = (properties: TProperties) => Type.Object({ ok: Type.Literal(true), ...properties })
/** An answer with a part of a list. */
export const pageAnswer = (name: string, item: TSchema) =>
  answerOf({ [name]: Type.Array(item), next_cursor: maybe(Type.String({ description: 'absent at the end' })) })
/** Of an answer about a building whose own appliance runs its rules. */
export const NOTICE = maybe(Type.String({ description: 'that what is set here does not reach the appliance' }))
/** An answer of a request that saves records, or would. */
export const SAVED = answerOf({ saved: Type.Integer(), dry_run: maybe(Type.Literal(true)) })

export const BUILDING_RECORD = Type.Object({
  ...{ building_id: TEXT, name: TEXT, site_id: TEXT },
  timezone: Type.String({ description: 'IANA' }),
  unit_system: oneOf(UNIT_SYSTEMS),
  ...{ lat: maybe(Type.Number()), lon: maybe(Type.Number()) },
})

export const EQUIPMENT_RECORD = Type.Object({
  ...{ equipment_id: TEXT, building_id: TEXT, name: TEXT },
  equipment_type: oneOf(EQUIPMENT_TYPES),
  parent_id: maybe(TEXT),
  feeds: maybe(Type.Array(TEXT)),
})

const SPAN_MS = Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 })
export const POINT_RECORD = Type.Object({
  ...{ point_id: TEXT, building_id: TEXT, equipment_id: maybe(TEXT), name: TEXT, role: maybe(TEXT) },
  unit: Type.String({ description: 'history has values in this unit' }),
  kind: oneOf(POINT_KINDS),
  source: Type.Object({
    protocol: oneOf(PROTOCOLS),
    address: TEXT,
    bacnet: maybe(Type.Object({ device_instance: Type.Integer(), network: maybe(Type.Integer()), mac: maybe(TEXT) })),
    scaling: maybe(Type.Object({ scale: Type.Number(), offset: Type.Number() })),
    untrusted: maybe(Type.Array(SPAN_MS, { description: 'stretches that nobody vouches for, ms since 1970 UTC' })),
  }),
  object: maybe(Type.String({ description: 'the BACnet object as people write it' })),
  poll_secs: maybe(Type.Number()),
  states: maybe(Type.Array(TEXT, { description: 'texts of an enum or bool by their number' })),
  edge_id: maybe(TEXT),
  gone_at: maybe(INSTANT_TEXT),
})

const RANGE = { low: Type.Number(), mid: Type.Number(), high: Type.Number() }
const IMPACT = Type.Object({
  ...{ kind: TEXT, ...RANGE, unit: TEXT, basis: Type.Array(TEXT) },
  energy: Type.Array(Type.Object({ carrier: oneOf(CARRIERS), ...RANGE })),
})
const NOT_PRICED = Type.Object({
  ...{ what: oneOf(['quantity', 'price', 'point', 'data']), name: TEXT, equipment_id: maybe(TEXT), why: maybe(TEXT) },
})
const NUMBER_OR_NULL = orNull(Type.Number())
export const BASELINE_VIEW = Type.Object({
  ...{ name: TEXT, value: NUMBER_OR_NULL, spread: NUMBER_OR_NULL, days_used: Type.Integer(), dates: Type.Array(TEXT) },
  left_out: Type.Array(Type.Object({ date: TEXT, why: TEXT })),
  cold: Type.Boolean(),
  ...{ min_days: maybe(Type.Integer()), unit: maybe(TEXT), absolute: maybe(Type.Boolean()) },
  ...{ fallback: maybe(NUMBER_OR_NULL), tolerance_cold: maybe(NUMBER_OR_NULL) },
})
const EVIDENCE = Type.Object({
  expression: TEXT,
  terms: Type.Array(Type.Object({ text: TEXT, holds: orNull(Type.Boolean()) })),
  inputs: Type.Record(TEXT, NUMBER_OR_NULL, { description: 'of the worst moment, by role' }),
  params: Type.Record(TEXT, Type.Object({ value: Type.Number(), unit: TEXT, source: TEXT })),
  worst_at: INSTANT_TEXT,
  sentence: TEXT,
  baselines: maybe(Type.Array(BASELINE_VIEW)),
})

export const FINDING_RECORD = Type.Object({
  ...{ finding_id: TEXT, building_id: TEXT, equipment_id: TEXT, rule_id: TEXT, role: maybe(TEXT) },
  ...{ kind: oneOf(FINDING_KINDS), title: TEXT, severity: Type.Integer({ minimum: 1, maximum: 4 }) },
  ...{ from: INSTANT_TEXT, to: orNull(INSTANT_TEXT), confirmed_at: INSTANT_TEXT, duration_secs: Type.Number() },
  stretches: maybe(Type.Array(Type.Object({ from: INSTANT_TEXT, to: INSTANT_TEXT, true_secs: Type.Integer() }))),
  state: oneOf(['active', 'cleared']),
  ended: maybe(Type.Object({ why: oneOf(ENDINGS), at: INSTANT_TEXT })),
  cause: Type.Array(Type.Object({ component: TEXT, weight: Type.Number() })),
  evidence: EVIDENCE,
  hindsight: maybe(Type.Object({ normal_from: INSTANT_TEXT })),
  ...{ suppressed_by: maybe(TEXT), relabelled_by: maybe(TEXT) },
  ...{ impact: maybe(IMPACT), not_priced: maybe(Type.Array(NOT_PRICED)) },
  urgency: orNull(oneOf(URGENCIES)),
  ack: oneOf(['acked', 'unacked']),
  ...{ snoozed_until: maybe(INSTANT_TEXT), snooze_reason: maybe(TEXT), snooze_scope: maybe(oneOf(SNOOZE_SCOPES)) },
  ...{ snoozed_by: maybe(TEXT), note: maybe(TEXT), assignee: maybe(TEXT), not_a_fault: maybe(TEXT) },
  overrides: Type.Array(Type.Unknown()),
})
export const FINDING_ANSWER = answerOf({ finding: FINDING_RECORD })

const SPAN = { from: INSTANT_TEXT, to: INSTANT_TEXT }
const VALUES = { min: NUMBER_OR_NULL, max: NUMBER_OR_NULL, mean: NUMBER_OR_NULL, last: NUMBER_OR_NULL }
const SERIES = Type.Object({
  ...{ point_id: TEXT, name: TEXT, role: orNull(TEXT), unit: TEXT, states: maybe(Type.Array(TEXT)) },
  points: Type.Array(Type.Object({ t: INSTANT_TEXT, ...VALUES })),
  no_data: Type.Array(Type.Object(SPAN)),
})
const FAULT_SPAN = { finding_id: TEXT, rule_id: TEXT, severity: Type.Integer(), from: INSTANT_TEXT, to: orNull(INSTANT_TEXT) }
export const SERIES_ANSWER = answerOf({
  ...{ building_id: TEXT, equipment_id: maybe(TEXT), ...SPAN, downsampled: Type.Boolean(), step_secs: maybe(Type.Number()) },
  missing_roles: Type.Array(TEXT),
  series: Type.Array(SERIES),
  faults: Type.Array(Type.Object(FAULT_SPAN)),
  no_data: Type.Array(Type.Object(SPAN)),
  overrides: Type.Array(Type.Object({ point_id: TEXT, ...SPAN, slot: Type.Integer(), value: NUMBER_OR_NULL })),
})

export const MISDATED_RECORD = Type.Object({
  ...{ building_id: TEXT, point_id: TEXT, edge_id: orNull(TEXT), observed_at: INSTANT_TEXT, arrived_at: INSTANT_TEXT },
  ...{ value: NUMBER_OR_NULL, quality: Type.Literal('clock'), stated_quality: oneOf(QUALITIES) },
})
