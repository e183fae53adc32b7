/** What the API answers of CSV packages: what a staged one would do, what an import did, and what columns are mapped to. */
import { Type } from '@sinclair/typebox'
import { COLUMN_STATUSES } from '#shared/core/csv/column.ts'
import { CHECK_SEVERITIES, CHECK_VERDICTS, CHECKS } from '#shared/core/csv/checks.ts'
import { EQUIPMENT_TYPES, POINT_KINDS } from '#shared/core/model/model.ts'
import { ROLE_KINDS } from '#shared/core/model/role.ts'
import { DIMENSIONS } from '#shared/core/model/unit.ts'
import { TABLE_MAPPING } from '#shared/central/commands/import-mapping.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { answerOf, INSTANT_TEXT, orNull } from './record-schemas.ts'
import { LINK_WAIT } from './rule-schemas.ts'

const TEXT = Type.String()
const TEXTS = Type.Array(TEXT)
const COUNT = Type.Integer({ minimum: 0 })
const CONFIDENCE = Type.Number({ minimum: 0, maximum: 1 })
const maybe = Type.Optional

const CHECK = Type.Object({
  code: oneOf(Object.keys(CHECKS) as (keyof typeof CHECKS)[]),
  severity: oneOf(CHECK_SEVERITIES),
  ...{ message: TEXT, count: COUNT, examples: TEXTS },
})
const AGENT_HINT = Type.Object({ code: TEXT, action: TEXT, example: TEXT })
/** Of a column without a role: the most likely one; proposed, never applied. */
const PROPOSED = { suggestion: maybe(TEXT), confidence: maybe(CONFIDENCE), why: maybe(TEXTS) }
const STAGED_COLUMN = Type.Object({
  ...{ header: TEXT, role: orNull(TEXT), unit: TEXT, status: oneOf(COLUMN_STATUSES), ...PROPOSED },
})
const LOCAL_TIME = orNull(Type.String({ description: 'the same in the time of the building, with its offset' }))
const STAGED_EQUIPMENT = Type.Object({
  ...{ equipment_id: TEXT, equipment_type: oneOf(EQUIPMENT_TYPES), rows: COUNT },
  ...{ first_at: orNull(INSTANT_TEXT), last_at: orNull(INSTANT_TEXT) },
  ...{ first_at_local: LOCAL_TIME, last_at_local: LOCAL_TIME },
  grid_minutes_seen: orNull(Type.Number({ description: 'minutes between rows' })),
  columns: Type.Array(STAGED_COLUMN),
})
const LINKS = Type.Object({
  waiting: Type.Array(Type.Object({ ...LINK_WAIT.properties, message: TEXT })),
  proposals: Type.Array(Type.Object({ equipment_id: TEXT, parent_id: TEXT, confidence: CONFIDENCE, why: TEXTS })),
})
/** Of a package that was uploaded, and again of one whose columns or tables were changed. */
export const STAGED_ANSWER = answerOf({
  ...{ session_id: TEXT, expires_at: INSTANT_TEXT, verdict: oneOf(CHECK_VERDICTS), can_execute: Type.Boolean() },
  ...{ building_id: orNull(TEXT), timezone: orNull(Type.String({ description: 'IANA' })) },
  ...{ rows_in: COUNT, rows_rejected: COUNT, equipment: Type.Array(STAGED_EQUIPMENT), links: LINKS },
  ...{ checks: Type.Array(CHECK), agent_hints: Type.Array(AGENT_HINT) },
})

const TABLE = Type.Object({
  ...{ table: TEXT, path: TEXT },
  equipment: Type.Array(TEXT, { description: 'whose columns are in it; empty while nobody has said it' }),
})
export const TABLE_ANSWER = answerOf({
  ...{ session_id: TEXT, tables: Type.Array(TABLE), table: TEXT },
  headers: TEXTS,
  rows: Type.Array(TEXTS, { description: 'cells of the first rows, in the order of the headers' }),
  time: Type.Array(TEXT, { description: 'headers of the time' }),
  mapping: TABLE_MAPPING,
})

export const IMPORTED_ANSWER = answerOf({
  ...{ dry_run: maybe(Type.Literal(true)), building_id: TEXT },
  ...{ rows_in: COUNT, rows_written: COUNT, rows_duplicate: COUNT, rows_rejected: COUNT },
  ...{ samples_written: COUNT, samples_duplicate: COUNT, equipment: TEXTS, total_ms: COUNT },
})

export const APPENDED_ANSWER = answerOf({
  ...{ building_id: TEXT, equipment_id: TEXT },
  ...{ rows_in: COUNT, rows_added: COUNT, rows_duplicate: COUNT, rows_rejected: COUNT },
  ...{ ts_min: INSTANT_TEXT, ts_max: INSTANT_TEXT, checks: Type.Array(CHECK) },
})

const COLUMN = Type.Object({
  ...{ equipment_id: TEXT, header: TEXT, point_id: TEXT, role: orNull(TEXT) },
  unit: Type.String({ description: 'history has values in this unit' }),
  ...{ kind: oneOf(POINT_KINDS), status: oneOf(['mapped', 'unmapped']), ...PROPOSED, samples: COUNT },
  ...{ first_at: orNull(INSTANT_TEXT), last_at: orNull(INSTANT_TEXT), sampling_minutes: orNull(Type.Number()) },
})
export const MAPPING_ANSWER = answerOf({
  ...{ building_id: TEXT, count: COUNT, columns: Type.Array(COLUMN), blockers: TEXTS, warnings: TEXTS },
})

const FIELDS = Type.Object({ required: TEXTS, optional: TEXTS })
const ROLE = Type.Object({
  role: TEXT,
  unit: Type.String({ description: 'in which rules read it, and `range` is' }),
  kind: oneOf(ROLE_KINDS),
  range: Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }),
  ...{ haystack: TEXT, brick: TEXT },
})
const UNIT = Type.Object({ unit: TEXT, dimension: oneOf(DIMENSIONS), aliases: TEXTS })
const LIMITS = Type.Object({
  ...{ upload_bytes: COUNT, append_bytes: COUNT, append_cells: COUNT, columns: COUNT, header_letters: COUNT },
  ...{ entries: COUNT, expanded_bytes: COUNT, ratio: COUNT, depth: COUNT },
})
export const CONTRACT_ANSWER = answerOf({
  ...{ contract_id: TEXT, package_schema: TEXT, required_columns: TEXTS, recommended_columns: TEXTS },
  ...{ manifest: FIELDS, column_map: FIELDS, equipment_types: Type.Array(oneOf(EQUIPMENT_TYPES)), timestamps: TEXTS },
  ...{ roles: Type.Array(ROLE), units: Type.Array(UNIT), limits: LIMITS, workflow: TEXTS },
})
