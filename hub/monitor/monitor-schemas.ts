/** What the API of a hub answers of MQTT messages, as the OpenAPI document states it (contract §8). */
import { Type } from '@sinclair/typebox'
import { answerOf, INSTANT_TEXT } from '#shared/central/api/schemas/record-schemas.ts'
import { TOPIC_KINDS } from '#shared/core/topic/topics.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { DIRECTIONS } from './mqtt-monitor.ts'

const TEXT = Type.String()
const COUNT = Type.Integer({ minimum: 0 })

const MESSAGE = Type.Object({
  ...{ id: COUNT, at: INSTANT_TEXT, direction: oneOf(DIRECTIONS), topic: TEXT, kind: oneOf([...TOPIC_KINDS, 'unknown']) },
  bytes: COUNT,
  preview: Type.String({ description: 'the beginning of the payload as text, at most 4 KiB' }),
  is_cut: Type.Boolean(),
})
export const MONITOR_ANSWER = answerOf({
  connected: Type.Boolean(),
  since: Type.String({ format: 'date-time', description: 'of `connected`' }),
  messages: Type.Integer({ description: 'since the process started, as `bytes`' }),
  bytes: COUNT,
  dropped: Type.Integer({ description: 'newer than `after` and not in `recent`' }),
  recent: Type.Array(MESSAGE, { description: 'oldest first' }),
})
