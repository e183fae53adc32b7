/** Routes that give the model of a building to other programs, and take one from them. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { toJsonLd, toTriples } from '#shared/core/model/exchange/brick-model.ts'
import { Problem } from '#shared/core/problem.ts'
import { writeTurtle } from '#shared/node/model/turtle.ts'
import { oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import {
  exportModel,
  importModel,
  MODEL_FORMATS,
  MODEL_TEXT_MAX,
  type ModelFormat,
  recordsOf,
} from '#shared/central/commands/model-exchange.ts'
import { QUANTITY } from '#shared/central/commands/quantities.ts'
import { QUANTITY_SCHEMA } from '#shared/core/model/quantity.ts'
import { HAYSTACK_GRID, MODEL_CHANGES } from './schemas/model-schemas.ts'
import type { CentralContext } from '#shared/central/context.ts'

const TYPES: Record<ModelFormat, string> = {
  csv: 'text/csv; charset=utf-8',
  haystack: 'application/json; charset=utf-8',
  brick: 'text/turtle; charset=utf-8',
}
const ENDINGS: Record<ModelFormat, string> = { csv: 'csv', haystack: 'json', brick: 'ttl' }

export const modelExchangeRoutes = (context: CentralContext): Route[] => [
  route({
    method: 'GET',
    path: '/twins/:building_id',
    auth: 'viewer',
    summary: 'The model of a building in Brick, as Turtle or with Accept: application/ld+json as JSON-LD',
    params: strict({ building_id: ID }),
    buildingOf: ({ building_id }) => building_id,
    problems: ['unknown_building'],
    handle: ({ params, request, reply }) => {
      const triples = toTriples(recordsOf(context, params.building_id))
      const asJson = request.headers.accept?.includes('application/ld+json') ?? false
      reply.header('vary', 'accept')
      if (asJson) return reply.type('application/ld+json; charset=utf-8').send(toJsonLd(triples))
      return reply.type(TYPES.brick).send(writeTurtle(triples))
    },
  }),
  route({
    method: 'GET',
    path: '/api/model/export',
    auth: 'viewer',
    summary: 'The model of a building as a file: CSV, Haystack or Brick',
    answers: ['text/csv', 'application/json', 'text/turtle'],
    query: strict({ building_id: ID, format: oneOf(MODEL_FORMATS) }),
    reply: HAYSTACK_GRID,
    problems: ['unknown_building'],
    handle: ({ query: { building_id, format }, reply }) =>
      reply
        .type(TYPES[format])
        .header('content-disposition', `attachment; filename="${building_id}.${ENDINGS[format]}"`)
        .send(exportModel(context, building_id, format)),
  }),
  route({
    method: 'POST',
    path: '/api/model/import',
    auth: 'operator',
    summary: 'Adds and changes what a file of one building says, all of it or nothing; what it does not name stays',
    // A character may take several bytes, and JSON escapes some.
    bodyMax: 2 * MODEL_TEXT_MAX,
    body: strict({
      confirm: Type.Optional(Type.Boolean()),
      building_id: ID,
      format: oneOf(MODEL_FORMATS),
      text: Type.String({ minLength: 1, maxLength: MODEL_TEXT_MAX }),
    }),
    query: strict({ dry_run: Type.Optional(Type.Boolean()) }),
    reply: MODEL_CHANGES,
    action: 'import_model',
    idempotent: true,
    problems: ['confirm_required', 'invalid'],
    handle: call => {
      const { confirm, ...given } = call.body
      const { dry_run = false } = call.query
      if (confirm !== true && !dry_run) {
        throw new Problem('confirm_required', 'This changes the model; try it with dry_run=true, then send confirm: true')
      }
      return { ok: true, ...importModel(context, call, given, dry_run), ...(dry_run && { dry_run }) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/model/quantities/schema',
    auth: 'viewer',
    anyBuilding: true,
    summary: 'The JSON Schema of engineering quantities',
    answers: ['application/schema+json'],
    handle: ({ reply }) =>
      reply.type('application/schema+json; charset=utf-8').send(
        JSON.stringify({
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          $id: `urn:plenum:schema:${QUANTITY_SCHEMA}`,
          title: QUANTITY_SCHEMA,
          ...QUANTITY,
        }),
      ),
  }),
]
