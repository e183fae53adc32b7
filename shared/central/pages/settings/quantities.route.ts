/** The page of engineering quantities and prices, and what its forms do. */
import { Type } from '@sinclair/typebox'
import type { PricingGap } from '#shared/core/impact/impact.ts'
import { Problem } from '#shared/core/problem.ts'
import {
  KIND_OF,
  type Quantity,
  QUANTITY_PROPERTIES,
  readQuantity,
  REVIEW_STATUSES,
  VALUE_BASES,
} from '#shared/core/model/quantity.ts'
import { DAY } from '#shared/core/time.ts'
import { quantitiesBody, type QuantitiesModel, SOURCE_MAX } from './quantities.view.ts'
import { oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { ranBy } from '#shared/central/fdd/rule-owner.ts'
import { repriceFor } from '#shared/central/api/fdd/quantities.ts'
import type { Shell } from '#shared/central/pages/shell.ts'

type Context = Pick<CentralContext, 'model' | 'quantities' | 'prices' | 'pricing' | 'results' | 'edges'>

const ID = Type.String({ maxLength: 128 })
const PAGE_ID = Type.Optional(Type.String({ maxLength: 400 }))
/** A field of a form that may be blank. */
const PRICE = Type.Optional(Type.String({ maxLength: 20 }))
/** Faults among which is looked for what they lack. */
const FAULTS_MAX = 1000
const LOOKED_BACK = 30 * DAY

export const quantityPageRoutes = (context: Context, shell: Shell): Route[] => [
  route({
    method: 'GET',
    path: '/quantities',
    auth: 'viewer',
    summary: 'The page of engineering quantities and prices',
    query: strict({ building: PAGE_ID, equipment: PAGE_ID, property: PAGE_ID, quantity: PAGE_ID }),
    handle: call => {
      const { query, caller } = call
      const at = { user: shell.userOf(caller), csrf: shell.csrfOf(caller) }
      const model = { ...pageModel(context, query, shell.here().now), ...at }
      return shell.document(call, { title: 'Quantities', current: '/quantities' }, quantitiesBody(model))
    },
  }),
  enterRoute(context),
  reviewRoute(context),
  priceRoute(context),
]

type Query = { building?: string; equipment?: string; property?: string; quantity?: string }

function pageModel(context: Context, query: Query, now: number): Omit<QuantitiesModel, 'user' | 'csrf'> {
  const { model, quantities, prices } = context
  const buildings = model.buildings()
  const building = buildings.find(one => one.building_id === query.building) ?? buildings[0]
  const { quantity: asked, equipment, property } = query
  const quantity = asked === undefined ? undefined : quantities.get(asked)
  const begin = {
    ...(equipment !== undefined && { equipment }),
    ...(property !== undefined && { property }),
    ...(quantity && { quantity }),
  }
  if (!building)
    return { buildings, building, ranBy: undefined, equipment: [], quantities: [], prices: undefined, wanted: [], begin }
  const { building_id } = building
  const own = quantities.list().filter(one => one.building_id === building_id || one.building_id === undefined)
  return {
    buildings,
    building,
    ranBy: ranBy(context, building_id),
    equipment: model.equipment(building_id),
    quantities: own.toSorted(inOrder),
    prices: prices.get(building_id),
    wanted: wantedBy(context, building_id, now),
    begin,
  }
}

const sortKey = ({ equipment_id = '', property, quantity_id }: Quantity) => `${equipment_id}\n${property}\n${quantity_id}`
const inOrder = (a: Quantity, b: Quantity): number => (sortKey(a) < sortKey(b) ? -1 : 1)

/** What recent faults that could be priced here lack, the commonest first. */
function wantedBy({ results }: Context, building_id: string, now: number): QuantitiesModel['wanted'] {
  const recent = results.list({ building_id, from: now - LOOKED_BACK, limit: FAULTS_MAX }).filter(({ waste }) => waste)
  const gaps = recent.flatMap(({ not_priced = [] }) =>
    not_priced.filter((gap): gap is PricingGap & { what: 'quantity' } => gap.what === 'quantity'),
  )
  const grouped = Map.groupBy(gaps, ({ name, equipment_id }) => `${equipment_id}\n${name}`)
  return [...grouped.values()]
    .map(group => ({ gap: group[0]!, faults: group.length }))
    .toSorted((a, b) => b.faults - a.faults || (a.gap.name < b.gap.name ? -1 : 1))
}

const placeOf = (building_id: string | undefined): string =>
  building_id === undefined ? '/quantities' : `/quantities?${new URLSearchParams({ building: building_id })}`

const enterRoute = ({ model, quantities, pricing }: Context): Route =>
  route({
    method: 'POST',
    path: '/quantities',
    auth: 'operator',
    summary: 'The form that enters or corrects a quantity; it then needs review',
    takes: 'form',
    body: strict({
      building_id: ID,
      quantity_id: PAGE_ID,
      equipment_id: Type.Optional(ID),
      property: oneOf(QUANTITY_PROPERTIES),
      numeric_value: Type.Number(),
      unit_code: Type.String({ minLength: 1, maxLength: 40 }),
      value_basis: oneOf(VALUE_BASES),
      source_type: Type.String({ minLength: 1, maxLength: SOURCE_MAX }),
    }),
    action: 'put_quantities',
    problems: ['unknown_building', 'unknown_equipment', 'invalid'],
    handle: async ({ body: { quantity_id, equipment_id = '', ...given }, reply, audit }) => {
      const { building_id, property, value_basis } = given
      if (!model.building(building_id)) throw new Problem('unknown_building', `There is no building ${building_id}`)
      const known = equipment_id === '' || model.equipment(building_id).some(one => one.equipment_id === equipment_id)
      if (!known) throw new Problem('unknown_equipment', `Building ${building_id} has no equipment ${equipment_id}`)
      const id = quantity_id || [building_id, equipment_id || 'building', property, value_basis].join('.')
      const before = quantities.get(id)
      const { equipment_id: _was, ...kept } = before ?? {}
      const quantity: Quantity = {
        ...kept,
        ...given,
        ...(equipment_id !== '' && { equipment_id }),
        quantity_id: id,
        quantity_kind: KIND_OF[property],
        review_status: 'NeedsReview',
      }
      refuseUnusable(quantity)
      quantities.put([quantity])
      audit({ subject: id, before: before ?? null, after: quantity })
      await repriceFor(pricing, before ? [quantity, before] : [quantity])
      return reply.redirect(placeOf(building_id), 303)
    },
  })

/** @throws Problem invalid in the words of the form */
function refuseUnusable(quantity: Quantity): void {
  const read = readQuantity(quantity)
  if (!('fault' in read)) return
  const pointer = read.fault.startsWith('unit_code') ? '/unit_code' : '/numeric_value'
  throw new Problem('invalid', read.fault, [{ pointer, message: read.fault }])
}

const reviewRoute = ({ quantities, pricing }: Context): Route =>
  route({
    method: 'POST',
    path: '/quantities/review',
    auth: 'operator',
    summary: 'The form that accepts, rejects or opens again a quantity',
    takes: 'form',
    body: strict({ quantity_id: Type.String({ minLength: 1, maxLength: 400 }), review_status: oneOf(REVIEW_STATUSES) }),
    action: 'review_quantity',
    problems: ['not_found', 'conflict', 'invalid'],
    handle: async ({ body: { quantity_id, review_status }, reply, audit }) => {
      const before = quantities.get(quantity_id)
      if (!before) throw new Problem('not_found', `There is no quantity ${quantity_id}`)
      const after = { ...before, review_status }
      if (review_status === 'Reviewed') refuseUnusable(after)
      quantities.put([after])
      audit({ subject: quantity_id, before, after })
      await repriceFor(pricing, [after])
      return reply.redirect(placeOf(before.building_id), 303)
    },
  })

const priceRoute = ({ model, prices, pricing }: Context): Route =>
  route({
    method: 'POST',
    path: '/quantities/prices',
    auth: 'operator',
    summary: 'The form that sets what energy costs',
    takes: 'form',
    body: strict({ building_id: ID, currency: Type.String({ maxLength: 10 }), electricity: PRICE, fuel: PRICE }),
    action: 'put_prices',
    problems: ['unknown_building', 'invalid'],
    handle: async ({ body: { building_id, ...given }, reply, audit }) => {
      if (!model.building(building_id)) throw new Problem('unknown_building', `There is no building ${building_id}`)
      const currency = given.currency.trim().toUpperCase()
      if (!/^[A-Z]{3}$/.test(currency)) throw invalid('currency', `${given.currency} is no currency such as EUR`)
      const electricity = priceOf('electricity', given.electricity)
      const fuel = priceOf('fuel', given.fuel)
      const before = prices.get(building_id) ?? null
      const after = { currency, ...(electricity !== undefined && { electricity }), ...(fuel !== undefined && { fuel }) }
      prices.put(building_id, after)
      audit({ subject: building_id, before, after })
      await pricing.reprice(building_id)
      return reply.redirect(`${placeOf(building_id)}#prices`, 303)
    },
  })

/** Highest price per kWh, as over the API. */
const PRICE_MAX = 1e6

/** @returns undefined for a blank field. @throws Problem invalid that names it */
function priceOf(carrier: string, text = ''): number | undefined {
  if (text.trim() === '') return undefined
  const price = Number(text)
  if (!(price >= 0 && price <= PRICE_MAX)) throw invalid(carrier, `${text} is no price per kWh of ${carrier}`)
  return price
}

const invalid = (field: string, message: string): Problem => new Problem('invalid', message, [{ pointer: `/${field}`, message }])
