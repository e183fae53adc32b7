/** The pages of analytics. Their data is loaded when a page is opened, because an appliance has little memory. */
import { Type } from '@sinclair/typebox'
import { Problem } from '#shared/core/problem.ts'
import { dateOf } from '#shared/core/time-zone.ts'
import { ANALYTICS_PAGES, type AnalyticsPage, analyticsPath, noBuilding } from './analytics-frame.ts'
import { type Call, type Route, route, strict } from '#shared/node/http/route.ts'
import { abortOnClose } from '#shared/central/analytics/service.ts'
import { endOfDate, MONTH, readSpan, startOfDate, WEEK } from '#shared/central/analytics/span.ts'
import type { AnalyticsContext, AnalyticsQuery, ShownSpan } from './analytics-models.ts'
import { PAGE_NUMBER } from '#shared/central/ui/pager.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { words } from '#shared/node/http/language.ts'

const ID = Type.String({ maxLength: 128 })
const DATE = Type.String({ pattern: String.raw`^\d{4}-\d{2}-\d{2}$` })
const Query = strict({
  building: Type.Optional(ID),
  from: Type.Optional(DATE),
  to: Type.Optional(DATE),
  /** Of operations. */
  sort: Type.Optional(Type.String({ maxLength: 32 })),
  page: PAGE_NUMBER,
  /** Of the economizer. */
  equipment: Type.Optional(ID),
  /** Of anomalies. */
  point: Type.Optional(ID),
})

const SPANS: Record<AnalyticsPage, number> = { operations: MONTH, economizer: MONTH, anomalies: WEEK }
const TITLES: Record<AnalyticsPage, string> = words({
  operations: 'Operations',
  economizer: 'Economizer',
  anomalies: 'Anomalies',
})

export const analyticsPages = (context: AnalyticsContext, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/analytics',
    auth: 'viewer',
    summary: 'The first page of analytics',
    handle: ({ reply }) => reply.redirect(analyticsPath('operations'), 303),
  }),
  ...ANALYTICS_PAGES.map(page => pageRoute(page, context, layout)),
  route({
    method: 'GET',
    path: `${analyticsPath('operations')}.csv`,
    auth: 'viewer',
    summary: 'The figures of operations as CSV',
    query: Query,
    handle: async ({ query, reply, caller }) => {
      const asked = await readAsked('operations', query, { ...context, model: layout.modelFor(caller) })
      if (!asked) throw new Problem('unknown_building', 'No building is known yet')
      const { operationsCsv } = await import('#shared/central/analytics/views.ts')
      const { building, from, to } = asked
      const found = await context.analytics.operations({ building_id: building.building_id, from, to }, abortOnClose(reply))
      reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="operations.csv"')
      return reply.send(operationsCsv(found.equipment, building.unit_system))
    },
  }),
]

const pageRoute = (page: AnalyticsPage, context: AnalyticsContext, layout: PageLayout): Route =>
  route({
    method: 'GET',
    path: analyticsPath(page),
    auth: 'viewer',
    summary: `The page of ${page}`,
    query: Query,
    handle: async (call: Call<undefined, AnalyticsQuery, undefined>) => {
      const shown = { ...context, model: layout.modelFor(call.caller) }
      const asked = await readAsked(page, call.query, shown)
      const here = { ...layout.here(), ...(asked && { timezone: asked.building.timezone }) }
      const { analyticsBodies } = await import('./analytics-models.ts')
      const body = asked
        ? await analyticsBodies[page](shown, asked, call.query, { here, gone: abortOnClose(call.reply) })
        : noBuilding(page)
      return layout.document(call, { title: TITLES[page], current: '/analytics', here }, body)
    },
  })

/** @returns undefined when there is no building at all. @throws Problem unknown_building, or bad_request for a day that is none */
async function readAsked(page: AnalyticsPage, query: AnalyticsQuery, context: AnalyticsContext): Promise<ShownSpan | undefined> {
  const buildings = context.model.buildings()
  const building_id = query.building || buildings[0]?.building_id
  if (building_id === undefined) return undefined
  const { building, ...span } = readSpan({ building_id }, SPANS[page], context)
  const { timezone } = building
  const from = query.from === undefined ? startOfDate(dateOf(span.from, timezone), timezone) : startOfDate(query.from, timezone)
  const to = query.to === undefined ? endOfDate(dateOf(span.to - 1, timezone), timezone) : endOfDate(query.to, timezone)
  if (from === undefined || to === undefined) throw new Problem('bad_request', 'The month has no such day')
  if (from >= to) throw new Problem('invalid', 'The last day is before the first')
  const shown = { building: building_id, from: dateOf(from, timezone), to: dateOf(to - 1, timezone) }
  return { building, from, to, head: { page, query: shown, buildings, choices: [] } }
}
