/** The forms that save a view of trends with a name, rename and delete it, and bring it back. */
import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { oneOf, orBlank, type Route, route, strict } from '#shared/node/http/route.ts'
import {
  COMPARE_NAME,
  removeTrend,
  renameTrend,
  restoreTrend,
  saveTrend,
  TREND_NAME,
  TREND_TIME,
} from '#shared/central/commands/saved-trends.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { safeNext } from '#shared/central/pages/typed-form.ts'
import { savedTrendHref, TREND_DAYS, TRENDS_PATH } from '#shared/central/ui/trends-link.ts'

type Context = Pick<CentralContext, 'savedTrends' | 'model' | 'clock'>

/** Ids of points by comma, as in the address of the page. */
export const TREND_POINT_IDS = Type.String({ maxLength: 2000, description: 'ids of points, by comma' })
/** The page from which a form was sent. */
const BACK = Type.Optional(Type.String({ maxLength: 4000 }))
/** @param removed the view that was deleted, which the page then offers to bring back */
function back(to: string | undefined, removed?: string): string {
  const page = safeNext(to)
  const href = page.startsWith(TRENDS_PATH) ? page : TRENDS_PATH
  return `${href}${removed === undefined ? '' : `${href.includes('?') ? '&' : '?'}removed=${removed}`}#saved`
}

export const savedTrendForms = (context: Context): Route[] => [
  route({
    method: 'POST',
    path: '/trends/saved',
    auth: 'operator',
    summary: 'The form that saves what the page of trends shows, with a name',
    takes: 'form',
    body: strict({
      name: TREND_NAME,
      building: ID,
      points: TREND_POINT_IDS,
      days: Type.Optional(oneOf(TREND_DAYS.map(String))),
      from: Type.Optional(TREND_TIME),
      to: Type.Optional(TREND_TIME),
      compare: Type.Optional(orBlank(COMPARE_NAME)),
    }),
    action: 'save_trend',
    problems: ['unknown_building', 'unknown_point', 'invalid', 'conflict'],
    handle: call => {
      const { name, building: building_id, points, days, from, to, compare } = call.body
      const chosen = { building_id, name, point_ids: points.split(',').filter(Boolean) }
      const span = { ...(days && { days: Number(days) }), ...(from && { from }), ...(to && { to }) }
      const trend = saveTrend(context, call, { ...chosen, ...span, ...(compare && { compare }) })
      return call.reply.redirect(`${savedTrendHref(trend)}#saved`, 303)
    },
  }),
  route({
    method: 'POST',
    path: '/trends/saved/rename',
    auth: 'operator',
    summary: 'The form that gives a saved view another name',
    takes: 'form',
    body: strict({ trend_id: ID, name: TREND_NAME, back: BACK }),
    action: 'rename_trend',
    problems: ['invalid', 'conflict'],
    handle: call => {
      renameTrend(context, call, call.body.trend_id, call.body.name)
      return call.reply.redirect(back(call.body.back), 303)
    },
  }),
  route({
    method: 'POST',
    path: '/trends/saved/remove',
    auth: 'operator',
    summary: 'The form that deletes a saved view',
    takes: 'form',
    body: strict({ trend_id: ID, back: BACK }),
    action: 'remove_trend',
    handle: call => {
      removeTrend(context, call, call.body.trend_id)
      return call.reply.redirect(back(call.body.back, call.body.trend_id), 303)
    },
  }),
  route({
    method: 'POST',
    path: '/trends/saved/restore',
    auth: 'operator',
    summary: 'The form that brings a deleted view back',
    takes: 'form',
    body: strict({ trend_id: ID, back: BACK }),
    action: 'restore_trend',
    problems: ['conflict'],
    handle: call => {
      restoreTrend(context, call, call.body.trend_id)
      return call.reply.redirect(back(call.body.back), 303)
    },
  }),
]
