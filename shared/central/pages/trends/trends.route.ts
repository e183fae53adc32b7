/** The page of trends. */
import { Type } from '@sinclair/typebox'
import { oneOf, PAGE_ID, type Route, route, strict } from '#shared/node/http/route.ts'
import { SEARCH_TEXT } from '#shared/central/api/search.ts'
import { TREND_TIME } from '#shared/central/commands/saved-trends.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { COMPARE, type Compare, TREND_DAYS, TRENDS_PATH } from '#shared/central/ui/trends-link.ts'
import { savedTrendForms, TREND_POINT_IDS } from './saved.route.ts'
import { type TrendsContext, trendsModel } from './trends-model.ts'
import { trendsBody } from './trends.view.ts'
import { say } from '#shared/node/http/language.ts'

const COMPARES = Object.keys(COMPARE) as Compare[]
/** An instant or a wall clock. */
const TIME = Type.Optional(TREND_TIME)

export const trendsPage = (context: TrendsContext & Pick<CentralContext, 'clock' | 'model'>, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: TRENDS_PATH,
    auth: 'viewer',
    summary: 'The page of trends',
    query: strict({
      building: Type.Optional(PAGE_ID),
      points: Type.Optional(TREND_POINT_IDS),
      days: Type.Optional(oneOf(TREND_DAYS.map(String))),
      from: TIME,
      to: TIME,
      q: Type.Optional(SEARCH_TEXT),
      of: Type.Optional(PAGE_ID),
      compare: Type.Optional(oneOf(['', ...COMPARES])),
      removed: Type.Optional(PAGE_ID),
    }),
    problems: ['unknown_building', 'unknown_equipment', 'unknown_point', 'bad_request'],
    handle: async call => {
      const { points = '', days, from, to, compare, removed, ...query } = call.query
      const asked = {
        ...query,
        points: [...new Set(points.split(',').filter(Boolean))],
        days: days === undefined ? undefined : Number(days),
        from: from || undefined,
        to: to || undefined,
        compare: compare || undefined,
      }
      const model = await trendsModel({ ...context, model: layout.modelFor(call.caller) }, asked, layout.here())
      const reader = { user: layout.userOf(call.caller), csrf: layout.csrfOf(call.caller) }
      const body = trendsBody(
        { ...model, removed: removed === undefined ? undefined : context.savedTrends.removed(removed) },
        layout.assets,
        reader,
      )
      return layout.document(call, { title: say`Trends`, current: TRENDS_PATH, here: model.here }, body)
    },
  }),
  ...savedTrendForms(context),
]
