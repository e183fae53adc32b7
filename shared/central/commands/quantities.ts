/** Commands on engineering quantities and energy prices, which the page and the API both call. */
import { type Static, Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import {
  type Quantity,
  QUANTITY_KINDS,
  QUANTITY_PROPERTIES,
  QUANTITY_SCHEMA,
  readQuantity,
  REVIEW_STATUSES,
  VALUE_BASES,
} from '#shared/core/model/quantity.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import { oneOf, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { type Actor, subjectOf } from './command.ts'

const TEXT = Type.Optional(Type.String())
/** Longest source of a quantity, characters. */
export const SOURCE_MAX = 400

export const REVIEW_STATUS = oneOf(REVIEW_STATUSES)

/** @source the service specification, `svc_engineering_quantities_v1` */
export const QUANTITY = strict({
  schema_version: Type.Optional(Type.Literal(QUANTITY_SCHEMA)),
  quantity_id: Type.String({ minLength: 1, maxLength: 400 }),
  equipment_id: TEXT,
  building_id: TEXT,
  tenant_id: TEXT,
  property: oneOf(QUANTITY_PROPERTIES),
  numeric_value: Type.Number(),
  unit_code: Type.String({ minLength: 1, maxLength: 40 }),
  quantity_kind: oneOf(QUANTITY_KINDS),
  value_basis: oneOf(VALUE_BASES),
  source_type: Type.String({ minLength: 1, maxLength: SOURCE_MAX }),
  source_reference: TEXT,
  source_locator: TEXT,
  review_status: Type.Optional(REVIEW_STATUS),
  notes: TEXT,
})

/** ISO 4217 codes are three capital letters. */
export const CURRENCY = Type.String({ pattern: '^[A-Z]{3}$' })
/** Price of one kWh. */
export const PRICE = Type.Number({ minimum: 0, maximum: 1e6 })
export const PRICES = strict({
  building_id: ID,
  currency: CURRENCY,
  electricity: Type.Optional(PRICE),
  fuel: Type.Optional(PRICE),
})

type QuantityContext = Pick<CentralContext, 'quantities' | 'pricing'>

/**
 * Adds, changes or reviews quantities, all of them or none, and prices the faults that they belong to again.
 *
 * @returns how many were saved, how many findings changed their cost, and the quantities that price nothing, with the reason
 * @throws Problem conflict for a review that must be opened again first, or invalid for a reviewed value of zero or less
 */
export async function putQuantities(
  { quantities, pricing }: QuantityContext,
  { audit }: Pick<Actor, 'audit'>,
  given: Quantity[],
) {
  refuseImpossible(given)
  const before = given.map(({ quantity_id }) => quantities.get(quantity_id) ?? null)
  quantities.put(given)
  audit({ subject: subjectOf(given.map(({ quantity_id }) => quantity_id)), before, after: given })
  const repriced = await repriceFor(pricing, [...given, ...before.filter(one => one !== null)])
  return { saved: given.length, repriced, unusable: unusable(given) }
}

/**
 * Sets the energy prices of a building; a carrier that is not named has no price any more.
 *
 * @returns how many findings changed their cost
 * @throws Problem unknown_building
 */
export async function putPrices(
  { model, prices, pricing }: Pick<CentralContext, 'model' | 'prices' | 'pricing'>,
  { audit }: Pick<Actor, 'audit'>,
  { building_id, ...given }: Static<typeof PRICES>,
): Promise<number> {
  needBuilding(model, building_id)
  const before = prices.get(building_id) ?? null
  prices.put(building_id, given)
  audit({ subject: building_id, before, after: given })
  return pricing.reprice(building_id)
}

/** @throws Problem invalid that points to each reviewed quantity that is not above zero */
function refuseImpossible(given: Quantity[]): void {
  const errors = given.flatMap(({ review_status, numeric_value, property }, i): DataError[] =>
    review_status === 'Reviewed' && numeric_value <= 0
      ? [{ pointer: `/quantities/${i}/numeric_value`, message: `${property} is above zero, not ${numeric_value}` }]
      : [],
  )
  if (errors.length > 0) throw new Problem('invalid', errors[0]!.message, errors)
}

/** Quantities that are stored and yet price nothing, most often because of a unit of another dimension. */
const unusable = (given: Quantity[]) =>
  given.flatMap(quantity => {
    const read = readQuantity(quantity)
    return 'fault' in read ? [{ quantity_id: quantity.quantity_id, why: read.fault }] : []
  })

/** Prices the buildings of these quantities; one without a building may price faults in any. */
async function repriceFor(pricing: CentralContext['pricing'], given: Quantity[]): Promise<number> {
  const buildings = new Set(given.map(({ building_id }) => building_id))
  if (buildings.has(undefined)) return pricing.reprice()
  let changed = 0
  for (const building_id of buildings) changed += await pricing.reprice(building_id)
  return changed
}
