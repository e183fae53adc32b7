/** The page of engineering quantities and prices, and what its forms do. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import type { PricingGap } from '#shared/core/impact/impact.ts'
import { needBuilding, needEquipment } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import { KIND_OF, type Quantity, readQuantity } from '#shared/core/model/quantity.ts'
import { DAY } from '#shared/core/time.ts'
import { quantitiesBody, type QuantitiesModel } from './quantities.view.ts'
import { orBlank, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { fits } from '#shared/node/http/schema-check.ts'
import { CURRENCY, PRICE, putPrices, putQuantities, QUANTITY, REVIEW_STATUS } from '#shared/central/commands/quantities.ts'
import { invalidField } from '#shared/central/commands/command.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { ruleOwner } from '#shared/central/fdd/rule-owner.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { say } from '#shared/node/http/language.ts'

const ASKED = Type.Optional(PAGE_ID)
type Context = Pick<CentralContext, 'model' | 'quantities' | 'prices' | 'pricing' | 'findings' | 'edges'>

/** The form derives the id of a quantity from the equipment and what it states, so it may be longer than other ids. */
const QUANTITY_ID = QUANTITY.properties.quantity_id
const { property, numeric_value, unit_code, value_basis, source_type } = QUANTITY.properties
/** A field of a price that may be blank. */
const PRICE_TEXT = Type.Optional(Type.String({ maxLength: 20 }))
/** Faults among which is looked for what they lack. */
const FAULTS_MAX = 1000
const LOOKED_BACK = 30 * DAY

export const quantitiesPage = (context: Context, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/quantities',
    auth: 'viewer',
    summary: 'The page of engineering quantities and prices',
    query: strict({ building: ASKED, equipment: ASKED, property: ASKED, quantity: Type.Optional(QUANTITY_ID) }),
    handle: call => {
      const { query, caller } = call
      const at = { user: layout.userOf(caller), csrf: layout.csrfOf(caller) }
      const model = { ...pageModel(context, query, layout.here().now), ...at }
      return layout.document(call, { title: say`Quantities`, current: '/quantities' }, quantitiesBody(model))
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
    return { buildings, building, ruleOwner: undefined, equipment: [], quantities: [], prices: undefined, wanted: [], begin }
  const { building_id } = building
  const own = quantities.list().filter(one => one.building_id === building_id || one.building_id === undefined)
  return {
    buildings,
    building,
    ruleOwner: ruleOwner(context, building_id),
    equipment: model.equipment(building_id),
    quantities: own.toSorted(inOrder),
    prices: prices.get(building_id),
    wanted: wantedBy(context, building_id, now),
    begin,
  }
}

const sortKey = ({ equipment_id = '', property, quantity_id }: Quantity) => `${equipment_id}\n${property}\n${quantity_id}`
const inOrder = (a: Quantity, b: Quantity): number => (sortKey(a) < sortKey(b) ? -1 : 1)

/** Quantities and prices that recent faults lack, the most frequent first. */
function wantedBy({ findings }: Context, building_id: string, now: number): QuantitiesModel['wanted'] {
  const recent = findings.list({ building_id, from: now - LOOKED_BACK, limit: FAULTS_MAX }).filter(({ waste }) => waste)
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
      quantity_id: Type.Optional(orBlank(QUANTITY_ID)),
      equipment_id: Type.Optional(orBlank(ID)),
      property,
      numeric_value,
      unit_code,
      value_basis,
      source_type,
    }),
    action: 'put_quantities',
    problems: ['unknown_building', 'unknown_equipment', 'invalid'],
    handle: async call => {
      const { quantity_id, equipment_id = '', ...given } = call.body
      const { building_id } = given
      needBuilding(model, building_id)
      if (equipment_id !== '') needEquipment(model, building_id, equipment_id)
      const id = quantity_id || [building_id, equipment_id || 'building', given.property, given.value_basis].join('.')
      const before = quantities.get(id)
      const { equipment_id: _before, ...unchanged } = before ?? {}
      const quantity: Quantity = {
        ...unchanged,
        ...given,
        ...(equipment_id !== '' && { equipment_id }),
        quantity_id: id,
        quantity_kind: KIND_OF[given.property],
        review_status: 'NeedsReview',
      }
      refuseUnusable(quantity)
      await putQuantities({ quantities, pricing }, call, [quantity])
      return call.reply.redirect(placeOf(building_id), 303)
    },
  })

/** @throws Problem invalid in the words of the form */
function refuseUnusable(quantity: Quantity): void {
  const read = readQuantity(quantity)
  if (!('fault' in read)) return
  throw invalidField(read.fault.startsWith('unit_code') ? 'unit_code' : 'numeric_value', read.fault)
}

const reviewRoute = ({ quantities, pricing }: Context): Route =>
  route({
    method: 'POST',
    path: '/quantities/review',
    auth: 'operator',
    summary: 'The form that accepts, rejects or opens again a quantity',
    takes: 'form',
    body: strict({ quantity_id: QUANTITY_ID, review_status: REVIEW_STATUS }),
    action: 'review_quantity',
    problems: ['not_found', 'conflict', 'invalid'],
    handle: async call => {
      const before = quantities.get(call.body.quantity_id)
      if (!before) throw new Problem('not_found', `There is no quantity ${call.body.quantity_id}`)
      const after = { ...before, ...call.body }
      if (after.review_status === 'Reviewed') refuseUnusable(after)
      await putQuantities({ quantities, pricing }, call, [after])
      return call.reply.redirect(placeOf(before.building_id), 303)
    },
  })

const priceRoute = (context: Context): Route =>
  route({
    method: 'POST',
    path: '/quantities/prices',
    auth: 'operator',
    summary: 'The form that sets what energy costs',
    takes: 'form',
    body: strict({ building_id: ID, currency: Type.String({ maxLength: 10 }), electricity: PRICE_TEXT, fuel: PRICE_TEXT }),
    action: 'put_prices',
    problems: ['unknown_building', 'invalid'],
    handle: async call => {
      const { building_id, ...given } = call.body
      const currency = given.currency.trim().toUpperCase()
      if (!fits(CURRENCY, currency)) throw invalidField('currency', `${given.currency} is no currency such as EUR`)
      const electricity = priceOf('electricity', given.electricity)
      const fuel = priceOf('fuel', given.fuel)
      const prices = { currency, ...(electricity !== undefined && { electricity }), ...(fuel !== undefined && { fuel }) }
      await putPrices(context, call, { building_id, ...prices })
      return call.reply.redirect(`${placeOf(building_id)}#prices`, 303)
    },
  })

/** @returns undefined for a blank field. @throws Problem invalid that names it */
function priceOf(carrier: string, text = ''): number | undefined {
  if (text.trim() === '') return undefined
  const price = Number(text)
  if (!fits(PRICE, price)) throw invalidField(carrier, `${text} is no price per kWh of ${carrier}`)
  return price
}
