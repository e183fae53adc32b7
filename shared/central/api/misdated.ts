import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { needBuilding } from '#shared/core/lookup.ts'
import { Problem } from '#shared/core/problem.ts'
import { formatInstant } from '#shared/core/time.ts'
import { route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { afterOf, limitOf, PAGE, pageOf } from './list.ts'
import { MISDATED_RECORD, pageAnswer } from './schemas/record-schemas.ts'

/** Readings whose own time cannot be right: nothing else shows them. */
export const misdatedRoutes = ({ model, misdated }: Pick<CentralContext, 'model' | 'misdated'>): Route[] => [
  route({
    method: 'GET',
    path: '/api/history/misdated',
    auth: 'viewer',
    summary: 'Readings dated before 2000 or ahead of the clock here, with the time at which they came; newest first',
    query: strict({ building_id: ID, point_id: Type.Optional(ID), ...PAGE }),
    reply: pageAnswer('readings', MISDATED_RECORD),
    problems: ['unknown_building', 'bad_cursor'],
    handle: ({ query }) => {
      const { building_id, point_id } = query
      needBuilding(model, building_id)
      const before = entryOf(afterOf(query))
      const found = misdated.list({
        building_id,
        limit: limitOf(query) + 1,
        ...(point_id !== undefined && { point_id }),
        ...(before !== undefined && { before }),
      })
      const { items, ...more } = pageOf(found, query, ({ entry }) => String(entry))
      const readings = items.map(({ entry: _entry, observed_at, arrived_at, quality, ...reading }) => ({
        ...reading,
        observed_at: formatInstant(observed_at),
        arrived_at: formatInstant(arrived_at),
        quality: 'clock',
        stated_quality: quality,
      }))
      return { ok: true, readings, ...more }
    },
  }),
]

/** @throws Problem bad_cursor */
function entryOf(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  if (!/^\d{1,15}$/.test(cursor)) throw new Problem('bad_cursor', 'The cursor is not one that this list has given')
  return Number(cursor)
}
