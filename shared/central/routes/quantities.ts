import { Type } from '@sinclair/typebox'
import {
  QUANTITY_KINDS,
  QUANTITY_PROPERTIES,
  QUANTITY_SCHEMA,
  REVIEW_STATUSES,
  VALUE_BASES,
  type Quantity,
} from '#shared/core/quantity.ts'
import { oneOf, route, type Route, strict } from '#shared/node/route.ts'
import type { CentralContext } from '../context.ts'
import { cutPage, PAGE } from './list.ts'
import { ID, subjectOf } from './model.ts'

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

export const quantityRoutes = ({ quantities }: CentralContext): Route[] => [
  route({
    method: 'GET',
    path: '/api/model/quantities',
    auth: 'viewer',
    summary: 'Engineering quantities, of one building or all',
    query: strict({ building_id: Type.Optional(ID), ...PAGE }),
    problems: ['bad_cursor'],
    handle: ({ query }) => {
      const { items, ...more } = cutPage(quantities.list(query.building_id), query, one => one.quantity_id)
      return { ok: true, quantities: items, ...more }
    },
  }),
  route({
    method: 'POST',
    path: '/api/model/quantities',
    auth: 'operator',
    summary: 'Adds, changes or reviews engineering quantities',
    body: strict({ quantities: Type.Array(QUANTITY, { minItems: 1, maxItems: RECORDS_MAX }) }),
    action: 'put_quantities',
    idempotent: true,
    problems: ['conflict'],
    handle: ({ body, audit }) => {
      const given: Quantity[] = body.quantities
      const before = given.map(({ quantity_id }) => quantities.get(quantity_id) ?? null)
      quantities.put(given)
      audit({ subject: subjectOf(given.map(({ quantity_id }) => quantity_id)), before, after: given })
      return { ok: true, saved: given.length }
    },
  }),
]
