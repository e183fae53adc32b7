import { Type } from '@sinclair/typebox'
import { type DataError, Problem } from '#shared/core/problem.ts'
import {
  QUANTITY_KINDS,
  QUANTITY_PROPERTIES,
  QUANTITY_SCHEMA,
  REVIEW_STATUSES,
  VALUE_BASES,
  type Quantity,
  readQuantity,
} from '#shared/core/model/quantity.ts'
import { ID, oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { ranByView } from '#shared/central/fdd/rule-owner.ts'
import { cutPage, PAGE } from '#shared/central/api/list.ts'
import { subjectOf } from '#shared/central/api/model.ts'

const TEXT = Type.Optional(Type.String())
const RECORDS_MAX = 5000

/** @source the service specification, `svc_engineering_quantities_v1` */
const QUANTITY = strict({
  schema_version: Type.Optional(Type.Literal(QUANTITY_SCHEMA)),
  quantity_id: Type.String({ minLength: 1 }),
  equipment_id: TEXT,
  building_id: TEXT,
  tenant_id: TEXT,
  property: oneOf(QUANTITY_PROPERTIES),
  numeric_value: Type.Number(),
  unit_code: Type.String({ minLength: 1 }),
  quantity_kind: oneOf(QUANTITY_KINDS),
  value_basis: oneOf(VALUE_BASES),
  source_type: Type.String({ minLength: 1 }),
  source_reference: TEXT,
  source_locator: TEXT,
  review_status: Type.Optional(oneOf(REVIEW_STATUSES)),
  notes: TEXT,
})

/** ISO 4217 codes are three capital letters. */
const CURRENCY = Type.String({ pattern: '^[A-Z]{3}$' })
const PRICE = Type.Optional(Type.Number({ minimum: 0, maximum: 1e6 }))
const OF_BUILDING = strict({ building_id: ID })

export const quantityRoutes = (context: CentralContext): Route[] => [...recordRoutes(context), ...priceRoutes(context)]

const recordRoutes = (context: CentralContext): Route[] => [
  route({
    method: 'GET',
    path: '/api/model/quantities',
    auth: 'viewer',
    summary: 'Engineering quantities, of one building or all',
    query: strict({ building_id: Type.Optional(ID), ...PAGE }),
    problems: ['bad_cursor'],
    handle: ({ query }) => {
      const { items, ...more } = cutPage(context.quantities.list(query.building_id), query, one => one.quantity_id)
      return { ok: true, quantities: items, ...more, ...ranByView(context, ...buildingsOf(items)) }
    },
  }),
  route({
    method: 'POST',
    path: '/api/model/quantities',
    auth: 'operator',
    summary: 'Adds, changes or reviews engineering quantities; what faults cost is reckoned anew',
    body: strict({ quantities: Type.Array(QUANTITY, { minItems: 1, maxItems: RECORDS_MAX }) }),
    action: 'put_quantities',
    idempotent: true,
    problems: ['conflict', 'invalid'],
    handle: async ({ body, audit }) => {
      const given: Quantity[] = body.quantities
      const { quantities, pricing } = context
      refuseImpossible(given)
      const before = given.map(({ quantity_id }) => quantities.get(quantity_id) ?? null)
      quantities.put(given)
      audit({ subject: subjectOf(given.map(({ quantity_id }) => quantity_id)), before, after: given })
      const repriced = await repriceFor(pricing, given)
      return { ok: true, saved: given.length, repriced, unusable: unusable(given), ...ranByView(context, ...buildingsOf(given)) }
    },
  }),
]

const buildingsOf = (quantities: Quantity[]): string[] => [...new Set(quantities.flatMap(({ building_id }) => building_id ?? []))]

const priceRoutes = (context: CentralContext): Route[] => {
  const { model, prices, pricing } = context
  const known = (building_id: string) => {
    if (!model.building(building_id)) throw new Problem('unknown_building', `There is no building ${building_id}`)
    return prices.get(building_id) ?? null
  }
  return [
    route({
      method: 'GET',
      path: '/api/model/prices',
      auth: 'viewer',
      summary: 'What energy costs in a building, per kWh; null when nobody has said so',
      query: OF_BUILDING,
      problems: ['unknown_building'],
      handle: ({ query: { building_id } }) => ({
        ok: true,
        building_id,
        prices: known(building_id),
        ...ranByView(context, building_id),
      }),
    }),
    route({
      method: 'PUT',
      path: '/api/model/prices',
      auth: 'operator',
      summary: 'Sets what energy costs in a building; a carrier that is not named has no price any more',
      body: strict({ building_id: ID, currency: CURRENCY, electricity: PRICE, fuel: PRICE }),
      action: 'put_prices',
      problems: ['unknown_building'],
      handle: async ({ body: { building_id, ...given }, audit }) => {
        const before = known(building_id)
        prices.put(building_id, given)
        audit({ subject: building_id, before, after: given })
        const repriced = await pricing.reprice(building_id)
        return { ok: true, building_id, prices: given, repriced, ...ranByView(context, building_id) }
      },
    }),
  ]
}

/** @throws Problem invalid that points to each quantity which is reviewed and not above zero */
function refuseImpossible(given: Quantity[]): void {
  const errors = given.flatMap(({ review_status, numeric_value, property }, i): DataError[] =>
    review_status === 'Reviewed' && numeric_value <= 0
      ? [{ pointer: `/quantities/${i}/numeric_value`, message: `${property} is above zero, not ${numeric_value}` }]
      : [],
  )
  if (errors.length > 0) throw new Problem('invalid', errors[0]!.message, errors)
}

/** Records that are kept and yet price nothing, with the reason: most often a unit of something else. */
const unusable = (given: Quantity[]) =>
  given.flatMap(quantity => {
    const read = readQuantity(quantity)
    return 'fault' in read ? [{ quantity_id: quantity.quantity_id, why: read.fault }] : []
  })

/** The buildings of these quantities; one without a building may price faults in any. */
export async function repriceFor(pricing: CentralContext['pricing'], given: Quantity[]): Promise<number> {
  const buildings = new Set(given.map(({ building_id }) => building_id))
  if (buildings.has(undefined)) return pricing.reprice()
  let changed = 0
  for (const building_id of buildings) changed += await pricing.reprice(building_id)
  return changed
}
