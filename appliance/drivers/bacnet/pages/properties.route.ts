/** The page of the properties of a BACnet object and its API. Both only read, with ReadProperty. */
import { Type } from '@sinclair/typebox'
import { Problem, PROBLEMS } from '#shared/core/problem.ts'
import { formatInstant } from '#shared/core/time.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'
import { BACNET_PATH } from '#shared/central/ui/links.ts'
import { say } from '#shared/node/http/language.ts'
import { propertyName, valueText } from '../core/property-names.ts'
import { type PropertiesRead, propertyReader, type PropertySources } from './property-reader.ts'
import { PROPERTIES_ANSWER } from './answer-schemas.ts'
import { propertiesBody, type PropertiesModel } from './properties.view.ts'

const NAME = Type.String({ minLength: 1, maxLength: 64 })
const PLACE = {
  device_id: Type.String({ minLength: 1, maxLength: 200 }),
  object: NAME,
}

export function propertyRoutes(sources: PropertySources, layout: PageLayout): Route[] {
  const reader = propertyReader(sources)
  return [
    route({
      method: 'GET',
      path: '/api/bacnet/properties',
      auth: 'operator',
      summary: 'Reads properties of a BACnet object now: the one that is named, or those that most objects have',
      query: strict({ ...PLACE, property: Type.Optional(NAME) }),
      reply: PROPERTIES_ANSWER,
      problems: ['unknown_device', 'invalid', 'conflict', 'device_failed'],
      handle: async ({ query }) => propertiesReply(await reader.read(query)),
    }),
    route({
      method: 'GET',
      path: '/bacnet',
      auth: 'operator',
      summary: 'The page of the properties of a BACnet object',
      query: Type.Partial(strict({ ...PLACE, property: Type.String({ maxLength: 64 }) })),
      handle: async call => {
        const { device_id, object, property } = call.query
        const isAsked = device_id !== undefined && object !== undefined
        const outcome = isAsked ? await reader.read({ device_id, object, property }).catch(problemOf) : undefined
        if (outcome instanceof Problem) call.reply.code(PROBLEMS[outcome.code].status)
        const model: PropertiesModel = { devices: reader.devices(), asked: call.query, outcome, here: layout.here() }
        return layout.document(call, { title: say`BACnet properties`, current: BACNET_PATH }, propertiesBody(model))
      },
    }),
  ]
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  throw error
}

const propertiesReply = ({ device, object, properties, absent, at, rttMs }: PropertiesRead) => ({
  ok: true,
  device_id: device.device_id,
  object,
  observed_at: formatInstant(at),
  rtt_ms: Math.round(rttMs * 10) / 10,
  properties: properties.map(one => ({
    property: one.property,
    name: propertyName(one.property),
    ...('values' in one
      ? { values: one.values.map(value => ({ type: value.type, text: valueText(one.property, value) })) }
      : { error: one.error }),
  })),
  absent: absent.map(propertyName),
})
