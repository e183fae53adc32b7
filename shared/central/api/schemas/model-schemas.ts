/** What the API answers of a model as a whole: what a text of it changes, which roles points may have, and its counts. */
import { Type } from '@sinclair/typebox'
import { FINDING_KINDS } from '#shared/core/findings/finding.ts'
import { POINT_KINDS } from '#shared/core/model/model.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { answerOf, INSTANT_TEXT, orNull, pageAnswer } from './record-schemas.ts'

const TEXT = Type.String()
const COUNT = Type.Integer({ minimum: 0 })
const maybe = Type.Optional

const BY_RECORD = Type.Object({ building: COUNT, equipment: COUNT, point: COUNT })
export const MODEL_CHANGES = answerOf({
  ...{ added: BY_RECORD, changed: BY_RECORD, unchanged: BY_RECORD, dry_run: maybe(Type.Literal(true)) },
})

/** A model in Haystack: dicts of tags, whose names are Haystack's. */
export const HAYSTACK_GRID = Type.Object(
  {
    _kind: Type.Literal('grid'),
    cols: Type.Array(Type.Object({ name: TEXT })),
    rows: Type.Array(Type.Record(TEXT, Type.Unknown())),
  },
  { additionalProperties: true, description: 'a Haystack 4 grid in Hayson' },
)

const SUGGESTION = Type.Object({
  ...{ role: TEXT, confidence: Type.Number({ minimum: 0, maximum: 1 }), why: Type.Array(TEXT) },
})
const OPEN_POINT = Type.Object({
  ...{ point_id: TEXT, equipment_id: orNull(TEXT), name: TEXT, unit: TEXT, kind: oneOf(POINT_KINDS) },
  suggestions: Type.Array(SUGGESTION, { description: 'the most likely role first' }),
})
const { properties: suggested } = pageAnswer('points', OPEN_POINT)
export const SUGGESTIONS_ANSWER = Type.Object({ ...suggested, building_id: TEXT })

const counted = (description: string) => Type.Record(TEXT, COUNT, { description })
const AGE = orNull(Type.Integer({ minimum: 0, description: 's; null for what never happened' }))
const SUMMARY = {
  ...{ as_of: INSTANT_TEXT, buildings: COUNT, equipment: COUNT, points: COUNT, findings_active: COUNT },
  ...{ last_run_age_secs: AGE, newest_edge_data_age_secs: AGE },
}
export const SUMMARY_ANSWER = answerOf(SUMMARY)
export const SNAPSHOT_ANSWER = answerOf({
  ...{ ...SUMMARY, points_without_role: COUNT, edges: counted('by status') },
  findings_by_severity: counted('1 to 4'),
  findings_by_kind: counted(FINDING_KINDS.join(', ')),
  findings_by_rule: counted('by rule_id'),
  results: counted('fault, pass, not_evaluated'),
})
