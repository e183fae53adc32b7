/** Project Haystack in the list of field devices and on pages. */
import { type Static, Type } from '@sinclair/typebox'
import { type DriverDefinition, choiceField, NO_OTHER_FIELDS } from '../../../core/catalogue/driver-definition.ts'
import { HAYSTACK_AUTHS } from './address.ts'

const HaystackSection = Type.Object(
  {
    endpoint: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Address of the API without the name of an op: https://skyspark.example/api/demo/',
    }),
    auth: choiceField(HAYSTACK_AUTHS, 'Kind of login; the key or password is in SERVICE_HAYSTACK_API_KEY, never here'),
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'For auth scram and basic' })),
  },
  NO_OTHER_FIELDS,
)

type HaystackSection = Static<typeof HaystackSection>

export const haystackDefinition = {
  name: 'haystack',
  title: 'Haystack',
  section: HaystackSection,
  telemetry: 'haystack',
  features: { changeNotification: false, priorityArrays: false },
  formatLocation: ({ endpoint }) => endpoint,
} as const satisfies DriverDefinition<'haystack', typeof HaystackSection>
