/** What the API of an appliance answers of Modbus registers, as the OpenAPI document states it. */
import { Type } from '@sinclair/typebox'
import { answerOf, INSTANT_TEXT, orNull } from '#shared/central/api/schemas/record-schemas.ts'
import { oneOf } from '#shared/node/http/route.ts'
import { REGISTER_FORMATS, type RegisterFormat, TABLES } from '../core/point.ts'

const TEXT = Type.String()
const ADDRESS = Type.Integer({ minimum: 0 })

const REGISTER = Type.Object({
  ...{ address: ADDRESS, hex: TEXT, uint16: Type.Integer(), int16: Type.Integer() },
  bits: Type.String({ description: 'bit 15 first, in groups of four' }),
})
const VALUE = Type.Object({
  address: Type.Integer({ description: 'of its first register' }),
  format: oneOf(Object.keys(REGISTER_FORMATS) as RegisterFormat[]),
  order: Type.String({ description: 'one letter for each byte, as they came' }),
  value: orNull(Type.Number({ description: 'null for what JSON cannot write' })),
  text: Type.String({ description: 'all digits' }),
  rounded: Type.Boolean({ description: 'whether `value` is' }),
  point_address: Type.String({ description: 'of a point with this value' }),
})
/** Bits of coils and discrete inputs, registers with their values of the others. */
export const REGISTERS_ANSWER = answerOf({
  ...{ device_id: TEXT, table: oneOf(TABLES), address: ADDRESS, count: Type.Integer() },
  ...{ observed_at: INSTANT_TEXT, rtt_ms: Type.Number({ description: 'of the first answer' }) },
  bits: Type.Optional(Type.Array(Type.Object({ address: ADDRESS, value: Type.Integer({ minimum: 0, maximum: 1 }) }))),
  registers: Type.Optional(Type.Array(REGISTER)),
  values: Type.Optional(Type.Array(VALUE)),
  unreadable: Type.Optional(Type.Array(Type.Object({ address: ADDRESS, count: Type.Integer(), reason: TEXT }))),
})
