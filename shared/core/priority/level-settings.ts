/** What a site may set for each level of the priority array: in its file, by the API, and in answers to a hub. */
import { type Static, Type } from '@sinclair/typebox'
import { LEVELS } from './priority-record.ts'

export const PriorityLevels = Type.Array(
  Type.Object(
    {
      level: Type.Integer({ minimum: 1, maximum: LEVELS, description: 'P1 to P16 of the priority array' }),
      name: Type.Optional(
        Type.String({ minLength: 1, maxLength: 60, description: 'What the site calls it; as in ASHRAE 135 when absent' }),
      ),
      override: Type.Optional(
        Type.Boolean({ description: 'Whether who commands there overrides the programs; P1 to P8 without P6 when absent' }),
      ),
    },
    { additionalProperties: false },
  ),
  { maxItems: LEVELS, description: 'Names of the levels of the priority array' },
)
export type PriorityLevels = Static<typeof PriorityLevels>
