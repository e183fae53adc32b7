/** What the API answers of a backup that waits to be restored. */
import { Type } from '@sinclair/typebox'
import { oneOf } from '#shared/node/http/route.ts'
import { answerOf, INSTANT_TEXT, orNull } from './record-schemas.ts'

const TEXT = Type.String()
const COUNT = Type.Integer({ minimum: 0 })

const HOLDINGS = Type.Object({
  ...{ buildings: COUNT, equipment: COUNT, points: COUNT, findings: COUNT, users: COUNT, rules: COUNT },
  ...{ history_files: COUNT, history_bytes: COUNT },
})
const RESTORE = Type.Object({
  phase: oneOf(['staged', 'confirmed', 'applied', 'undoing', 'done', 'undone']),
  about: Type.Object({ format: Type.Integer(), version: TEXT, site_id: TEXT, created_at: INSTANT_TEXT, files: COUNT }),
  holds: HOLDINGS,
  ...{ confirmed_by: Type.Optional(TEXT), confirmed_at: Type.Optional(INSTANT_TEXT) },
})
export const RESTORE_STATE = answerOf({
  ...{ available: Type.Boolean(), restarts: Type.Boolean(), restore: orNull(RESTORE), present: orNull(HOLDINGS) },
})
export const RESTORE_ANSWER = answerOf({ restore: RESTORE })
