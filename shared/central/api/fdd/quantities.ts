import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { needBuilding, refuseUnknownBuilding } from '#shared/core/lookup.ts'
import type { Quantity } from '#shared/core/model/quantity.ts'
import { route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { PRICES, putPrices, putQuantities, QUANTITY } from '#shared/central/commands/quantities.ts'
import { ruleOwnerView } from '#shared/central/fdd/rule-owner.ts'
import { cutPage, PAGE } from '#shared/central/api/list.ts'
import { PRICES_ANSWER, PRICES_SAVED, QUANTITIES_ANSWER, QUANTITIES_SAVED } from '#shared/central/api/schemas/tuning-schemas.ts'

const RECORDS_MAX = 5000
const OF_BUILDING = strict({ building_id: ID })

export const quantityRoutes = (context: CentralContext): Route[] => [...recordRoutes(context), ...priceRoutes(context)]

const recordRoutes = (context: CentralContext): Route[] => [
  route({
    method: 'GET',
    path: '/api/model/quantities',
    auth: 'viewer',
    summary: 'Engineering quantities, of one building or all',
    query: strict({ building_id: Type.Optional(ID), ...PAGE }),
    reply: QUANTITIES_ANSWER,
    problems: ['bad_cursor', 'unknown_building'],
    handle: ({ query }) => {
      const listed = context.quantities.list(query.building_id)
      refuseUnknownBuilding(context.model, query.building_id, listed)
      const { items, ...more } = cutPage(listed, query, one => one.quantity_id)
      return { ok: true, quantities: items, ...more, ...ruleOwnerView(context, ...buildingsOf(items)) }
    },
  }),
  route({
    method: 'POST',
    path: '/api/model/quantities',
    auth: 'operator',
    summary: 'Adds, changes or reviews engineering quantities; what faults cost is reckoned anew',
    body: strict({ quantities: Type.Array(QUANTITY, { minItems: 1, maxItems: RECORDS_MAX }) }),
    reply: QUANTITIES_SAVED,
    action: 'put_quantities',
    idempotent: true,
    problems: ['conflict', 'invalid'],
    handle: async call => {
      const given: Quantity[] = call.body.quantities
      return { ok: true, ...(await putQuantities(context, call, given)), ...ruleOwnerView(context, ...buildingsOf(given)) }
    },
  }),
]

const buildingsOf = (quantities: Quantity[]): string[] => [...new Set(quantities.flatMap(({ building_id }) => building_id ?? []))]

const priceRoutes = (context: CentralContext): Route[] => [
  route({
    method: 'GET',
    path: '/api/model/prices',
    auth: 'viewer',
    summary: 'What energy costs in a building, per kWh; null when nobody has said so',
    query: OF_BUILDING,
    reply: PRICES_ANSWER,
    problems: ['unknown_building'],
    handle: ({ query }) => {
      const { building_id } = needBuilding(context.model, query.building_id)
      return { ok: true, building_id, prices: context.prices.get(building_id) ?? null, ...ruleOwnerView(context, building_id) }
    },
  }),
  route({
    method: 'PUT',
    path: '/api/model/prices',
    auth: 'operator',
    summary: 'Sets what energy costs in a building; a carrier that is not named has no price any more',
    body: PRICES,
    reply: PRICES_SAVED,
    action: 'put_prices',
    problems: ['unknown_building'],
    handle: async call => {
      const { building_id, ...prices } = call.body
      const repriced = await putPrices(context, call, call.body)
      return { ok: true, building_id, prices, repriced, ...ruleOwnerView(context, building_id) }
    },
  }),
]
