/** What the API answers of rules: what they read, their texts, and which of them can run. */
import { Type } from '@sinclair/typebox'
import { FINDING_KINDS } from '#shared/core/findings/finding.ts'
import { EQUIPMENT_TYPES } from '#shared/core/model/model.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { answerOf, INSTANT_TEXT, NOTICE, orNull, pageAnswer } from './record-schemas.ts'
import { RUN_REPLY } from './run-schemas.ts'

const TEXT = Type.String()
const TEXTS = Type.Array(TEXT)
const COUNT = Type.Integer({ minimum: 0 })
const maybe = Type.Optional
const TYPES = Type.Array(oneOf([...EQUIPMENT_TYPES, 'any']))
const SEVERITY = Type.Integer({ minimum: 1, maximum: 4 })
const UNITS_OF_ROLES = Type.Record(TEXT, TEXT, { description: 'by role, the unit in which the rule reads it' })

const PARAM = Type.Object({
  ...{ default: Type.Number(), min: Type.Number(), max: Type.Number(), unit: TEXT },
  perRole: maybe(Type.Record(TEXT, Type.Number(), { description: 'by role or unit' })),
})
const RULE = {
  ...{ id: TEXT, title: TEXT, kind: oneOf(FINDING_KINDS), equipment: TYPES, roles: UNITS_OF_ROLES, optional: UNITS_OF_ROLES },
  ...{ params: Type.Record(TEXT, PARAM), severity: SEVERITY, source: TEXT, sha256: TEXT, filename: TEXT },
  ...{ active: Type.Boolean(), changed_by: maybe(TEXT), changed_at: maybe(INSTANT_TEXT) },
}
const RULE_ERROR = Type.Object({ filename: TEXT, line: Type.Integer(), message: TEXT })
const { properties: listed } = pageAnswer('rules', Type.Object(RULE))
export const RULES_ANSWER = Type.Object({
  ...listed,
  ...{ count: COUNT, errors: Type.Array(RULE_ERROR, { description: 'files that do not check' }) },
})
export const RULE_ANSWER = answerOf({
  rule: Type.Object({ ...RULE, condition: TEXT, lets: Type.Record(TEXT, TEXT), gate: maybe(TEXT) }),
})

const DEPLOYED_RULE = Type.Object({ filename: TEXT, rule_id: TEXT, title: TEXT, equipment: TYPES, tests: COUNT })
export const BATCH_ANSWER = answerOf({
  ...{ deployed: COUNT, unchanged: COUNT, errors: Type.Array(RULE_ERROR) },
  files: maybe(Type.Object({ deployed: TEXTS, unchanged: TEXTS, rules: Type.Array(DEPLOYED_RULE) })),
  runs: maybe(Type.Array(RUN_REPLY, { description: 'of an empty body' })),
  notice: NOTICE,
})

export const ACTIVATION_ANSWER = answerOf({
  ...{ rule_id: TEXT, active: Type.Boolean(), activated_by: TEXT, activated_at: INSTANT_TEXT, notice: NOTICE },
})

const CAUSE = Type.Object({ component: TEXT, weight: Type.Number(), when: maybe(TEXT) })
/** A version has its text alone. */
export const RULE_TEXT_ANSWER = answerOf({
  ...{ rule_id: TEXT, yaml: TEXT, tests: maybe(Type.Array(Type.Object({ name: TEXT, line: Type.Integer() }))) },
  ...{ explains: maybe(TEXT), words: maybe(TEXTS), alternatives: maybe(TEXTS), causes: maybe(Type.Array(CAUSE)) },
  sources: maybe(Type.Record(TEXT, TEXT)),
})
const VERSION = { sha256: TEXT, deployed_by: orNull(TEXT), deployed_at: orNull(INSTANT_TEXT), is_current: Type.Boolean() }
export const VERSIONS_ANSWER = answerOf({
  ...{ rule_id: TEXT, shipped: Type.Boolean(), versions: Type.Array(Type.Object(VERSION)) },
})
export const ROLL_BACK_ANSWER = answerOf({ rule_id: TEXT, to: TEXT, notice: NOTICE })

const DEFINITION = Type.Object({
  ...{ fault_id: TEXT, title: TEXT, category: oneOf(FINDING_KINDS), severity: SEVERITY, equipment_types: TYPES },
  ...{ description: TEXT, source: TEXT, updated_at: INSTANT_TEXT, retired_at: maybe(INSTANT_TEXT) },
})
const { properties: defined } = pageAnswer('definitions', DEFINITION)
export const DEFINITIONS_ANSWER = Type.Object({ ...defined, count: COUNT })

const LINE = Type.Object({ equipment_id: TEXT, rule_id: TEXT, title: TEXT, missing: TEXTS, optional: TEXTS })
/** Equipment that rules wait for a link of. */
export const LINK_WAIT = Type.Object({
  ...{ equipment_type: oneOf(EQUIPMENT_TYPES), served_by: oneOf(EQUIPMENT_TYPES) },
  ...{ equipment_ids: TEXTS, server_ids: TEXTS, rule_ids: TEXTS },
})
export const COVERAGE_ANSWER = answerOf({
  ...{ building_id: TEXT, can_run: COUNT, cannot_run: COUNT, rules: Type.Array(LINE) },
  gains: Type.Array(Type.Object({ equipment_id: TEXT, role: TEXT, rule_ids: TEXTS })),
  waits: Type.Array(LINK_WAIT),
})
