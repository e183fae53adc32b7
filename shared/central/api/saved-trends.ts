/** Views of trends that are saved with a name. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import type { SavedTrend } from '#shared/core/series/saved-trend.ts'
import { formatInstant } from '#shared/core/time.ts'
import { DONE_ANSWER, route, type Route, strict } from '#shared/node/http/route.ts'
import {
  COMPARE_NAME,
  NEW_TREND,
  removeTrend,
  renameTrend,
  restoreTrend,
  saveTrend,
  TREND_NAME,
} from '#shared/central/commands/saved-trends.ts'
import { refuseUnknownBuilding } from '#shared/core/lookup.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { savedTrendHref } from '#shared/central/ui/trends-link.ts'
import { cutPage, PAGE } from './list.ts'

type Context = Pick<CentralContext, 'savedTrends' | 'model' | 'clock'>

const orNull = <T extends ReturnType<typeof Type.String | typeof Type.Integer>>(schema: T) => Type.Union([schema, Type.Null()])
const TrendReply = Type.Object({
  trend_id: Type.String(),
  building_id: Type.String(),
  name: Type.String(),
  point_ids: Type.Array(Type.String()),
  days: orNull(Type.Integer()),
  from: orNull(Type.String()),
  to: orNull(Type.String()),
  compare: Type.Union([COMPARE_NAME, Type.Null()]),
  href: Type.String({ description: 'the page that shows it' }),
  created_by: Type.String(),
  created_at: Type.String({ format: 'date-time' }),
})
const OneReply = Type.Object({ ok: Type.Literal(true), saved_trend: TrendReply })
const BASE = '/api/saved-trends'
const BY_ID = strict({ trend_id: ID })

export const savedTrendRoutes = (context: Context): Route[] => {
  /** For tokens of one building. */
  const buildingOf = ({ trend_id = '' }: Record<string, string>) => context.savedTrends.get(trend_id)?.building_id
  const buildingOfRemoved = ({ trend_id = '' }: Record<string, string>) => context.savedTrends.removed(trend_id)?.building_id
  return [
    route({
      method: 'GET',
      path: BASE,
      auth: 'viewer',
      summary: 'Saved views of trends, by building and name',
      query: strict({ building_id: Type.Optional(ID), ...PAGE }),
      reply: Type.Object({
        ok: Type.Literal(true),
        saved_trends: Type.Array(TrendReply),
        next_cursor: Type.Optional(Type.String()),
      }),
      problems: ['bad_cursor', 'unknown_building'],
      handle: ({ query }) => {
        const { building_id } = query
        const listed = context.savedTrends.list().filter(one => building_id === undefined || one.building_id === building_id)
        refuseUnknownBuilding(context.model, building_id, listed)
        const { items, ...next } = cutPage(listed, query, ({ trend_id }) => trend_id)
        return { ok: true, saved_trends: items.map(replyOf), ...next }
      },
    }),
    route({
      method: 'POST',
      path: BASE,
      auth: 'operator',
      summary: 'Saves a view: the last days, or the time from one instant to another',
      body: strict(NEW_TREND),
      reply: OneReply,
      action: 'save_trend',
      problems: ['unknown_building', 'unknown_point', 'invalid', 'conflict'],
      handle: call => ({ ok: true, saved_trend: replyOf(saveTrend(context, call, call.body)) }),
    }),
    route({
      method: 'PATCH',
      path: `${BASE}/:trend_id`,
      auth: 'operator',
      summary: 'Gives a saved view another name',
      params: BY_ID,
      buildingOf,
      body: strict({ name: TREND_NAME }),
      reply: OneReply,
      action: 'rename_trend',
      problems: ['invalid', 'conflict'],
      handle: call => ({ ok: true, saved_trend: replyOf(renameTrend(context, call, call.params.trend_id, call.body.name)) }),
    }),
    route({
      method: 'DELETE',
      path: `${BASE}/:trend_id`,
      auth: 'operator',
      summary: 'Deletes a saved view',
      params: BY_ID,
      buildingOf,
      reply: DONE_ANSWER,
      action: 'remove_trend',
      handle: call => {
        removeTrend(context, call, call.params.trend_id)
        return { ok: true }
      },
    }),
    route({
      method: 'POST',
      path: `${BASE}/:trend_id/restore`,
      auth: 'operator',
      summary: 'Lists a deleted view again, as it was; the newest 200 that were deleted are retained',
      params: BY_ID,
      buildingOf: buildingOfRemoved,
      reply: OneReply,
      action: 'restore_trend',
      problems: ['conflict'],
      handle: call => ({ ok: true, saved_trend: replyOf(restoreTrend(context, call, call.params.trend_id)) }),
    }),
  ]
}

const NO_SPAN = { days: null, from: null, to: null }
const replyOf = ({ span, compare = undefined, created_at, ...trend }: SavedTrend) => ({
  ...trend,
  ...NO_SPAN,
  ...span,
  compare: compare ?? null,
  href: savedTrendHref({ ...trend, span, compare }),
  created_at: formatInstant(created_at),
})
