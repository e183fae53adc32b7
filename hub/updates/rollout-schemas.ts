/** What the API of a hub answers of the roll-out of an update, as the OpenAPI document states it. */
import { Type } from '@sinclair/typebox'
import { BOX_STATES, ROLLOUT_STATES } from '#shared/core/update/rollout.ts'
import { SystemReport } from '#shared/core/update/update-wire.ts'
import { answerOf, INSTANT_TEXT, orNull } from '#shared/central/api/schemas/record-schemas.ts'
import { oneOf } from '#shared/node/http/route.ts'

const TEXT = Type.String()
const BOX = { site_id: TEXT, edge_id: TEXT }
/** A reason is empty where there is none. */
const ROLLOUT = Type.Object({
  ...{ version: TEXT, compatible: TEXT, bytes: Type.Integer(), sha256: TEXT },
  ...{ started_at: INSTANT_TEXT, started_by: TEXT, state: oneOf(ROLLOUT_STATES), reason: TEXT },
  boxes: Type.Array(Type.Object({ ...BOX, state: oneOf(BOX_STATES), since: INSTANT_TEXT, reason: TEXT })),
})
export const ROLLOUT_ANSWER = answerOf({ rollout: orNull(ROLLOUT) })

const BOX_REPORT = Type.Object({
  ...{ ...BOX, version: TEXT, online: Type.Boolean() },
  is_healthy: Type.Boolean({ description: 'its session is open and its data fresh' }),
  system: SystemReport,
})
export const ROLLOUTS_ANSWER = answerOf({ rollout: orNull(ROLLOUT), boxes: Type.Array(BOX_REPORT) })
