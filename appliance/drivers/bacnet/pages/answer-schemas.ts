/** What the API of an appliance answers of BACnet objects and of where it sends and receives, as the OpenAPI document states it. */
import { Type } from '@sinclair/typebox'
import { answerOf, INSTANT_TEXT } from '#shared/central/api/schemas/record-schemas.ts'
import { SOURCES } from '#shared/core/env.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { MACHINE_ADDRESS } from '../discovery/discovery-schemas.ts'

const TEXT = Type.String()

/** One of `values` and `error`. */
const PROPERTY = Type.Object({
  ...{ property: Type.Integer(), name: TEXT },
  values: Type.Optional(Type.Array(Type.Object({ type: TEXT, text: TEXT }))),
  error: Type.Optional(TEXT),
})
export const PROPERTIES_ANSWER = answerOf({
  ...{ device_id: TEXT, object: TEXT, observed_at: INSTANT_TEXT, rtt_ms: Type.Number({ description: 'of the first answer' }) },
  properties: Type.Array(PROPERTY),
  absent: Type.Array(TEXT, { description: 'properties that the object does not have' }),
})

const SETTING = Type.Object({
  ...{ name: TEXT, value: TEXT, source: oneOf(SOURCES), doc: TEXT },
  is_decided_elsewhere: Type.Boolean({ description: 'than in the settings file, so that it cannot be changed here' }),
})
export const NETWORK_ANSWER = answerOf({
  addresses: Type.Array(TEXT),
  port: Type.Integer(),
  bbmd: Type.String({ description: 'empty for none' }),
  bbmd_ttl_secs: Type.Integer(),
  ...{ settings: Type.Array(SETTING), machine: Type.Array(MACHINE_ADDRESS), is_restarting: Type.Boolean() },
})
