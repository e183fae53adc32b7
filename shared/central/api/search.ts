import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { SEARCH_KINDS } from '#shared/core/search/search-index.ts'
import { oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { answerOf } from '#shared/central/api/schemas/record-schemas.ts'
import type { CentralContext } from '#shared/central/context.ts'

export const SEARCH_TEXT = Type.String({ maxLength: 200, description: 'words, each of which must occur' })
const HIT = Type.Object({
  ...{ kind: oneOf(SEARCH_KINDS), id: Type.String(), title: Type.String(), detail: Type.String() },
  ...{ building_id: Type.Optional(Type.String()), equipment_id: Type.Optional(Type.String()) },
})
const SEARCH_ANSWER = answerOf({
  counts: Type.Object(Object.fromEntries(SEARCH_KINDS.map(kind => [kind, Type.Integer({ minimum: 0 })]))),
  items: Type.Array(HIT),
})
const LIMIT_DEFAULT = 20
const LIMIT_MAX = 200

export const searchRoutes = ({ search }: Pick<CentralContext, 'search'>): Route[] => [
  route({
    method: 'GET',
    path: '/api/search',
    auth: 'viewer',
    summary: 'Buildings, equipment, points, open faults and rules by name, id, role and address, the best fit first',
    query: strict({
      q: SEARCH_TEXT,
      kind: Type.Optional(oneOf(SEARCH_KINDS)),
      building_id: Type.Optional(ID),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT })),
    }),
    reply: SEARCH_ANSWER,
    handle: async ({ query: { q: query, kind, building_id, limit = LIMIT_DEFAULT } }) => {
      const { counts, hits } = await search.find({ query, kind, building_id, limit })
      return { ok: true, counts, items: hits.map(({ words: _words, ...item }) => item) }
    },
  }),
]
