/** What the API of an appliance answers of its field devices, as the OpenAPI document states it. */
import { Type } from '@sinclair/typebox'
import { DEVICE_STATUS } from '#shared/central/api/schemas/poll-schemas.ts'
import { answerOf, INSTANT_TEXT, orNull, pageAnswer } from '#shared/central/api/schemas/record-schemas.ts'
import { POLL_STATES } from '#shared/core/poll/poll-status.ts'
import { QUALITIES } from '#shared/core/telemetry/reading.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { DEVICE_ENTRY } from './catalogue-schema.ts'

const TEXT = Type.String()
const COUNT = Type.Integer({ minimum: 0 })
const POLL = orNull(DEVICE_STATUS)
const WHERE = orNull(Type.String({ description: 'its address as people write it' }))

const { points: _points, ...entry } = DEVICE_ENTRY.properties
const { properties: listed } = pageAnswer('devices', Type.Object({ ...entry, where: WHERE, points: COUNT, poll: POLL }))
export const DEVICES_ANSWER = Type.Object({
  ...listed,
  refusal: Type.Optional(Type.String({ description: 'why the file on the disk is not in use' })),
})

const POINT = Type.Object({
  ...{ point_id: TEXT, state: oneOf(POLL_STATES) },
  v: orNull(Type.Union([Type.Number(), Type.Boolean(), TEXT], { description: 'in the unit of the entry' })),
  ...{ q: orNull(oneOf(QUALITIES)), t: orNull(INSTANT_TEXT) },
})
export const DEVICE_ANSWER = answerOf({ device: DEVICE_ENTRY, poll: POLL, points: Type.Array(POINT) })
export const DEVICE_PUT = answerOf({ device_id: TEXT, created: Type.Boolean() })
export const DEVICE_DELETED = answerOf({ device_id: TEXT })

const PLANNED = Type.Object({
  ...{ device_id: TEXT, name: TEXT, device_instance: Type.Optional(COUNT), state: oneOf(['new', 'known', 'no_address']) },
  ...{ where: WHERE, points: COUNT, points_known: COUNT },
})
const REFUSED = Type.Object({ file: TEXT, line: Type.Integer(), column: TEXT, message: TEXT })
export const DEVICES_IMPORTED = answerOf({
  counts: Type.Object({
    ...{ devices_new: COUNT, devices_known: COUNT, devices_without_address: COUNT, points_added: COUNT, points_known: COUNT },
  }),
  ...{ devices: Type.Array(PLANNED), refused: Type.Array(REFUSED), refused_total: COUNT },
  ...{ notes: Type.Array(TEXT), notes_total: COUNT },
  others: Type.Record(TEXT, COUNT, { description: 'objects without a value to poll, by type' }),
})
