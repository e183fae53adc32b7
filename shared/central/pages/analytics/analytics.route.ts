/** The pages of analytics. What they show is loaded when somebody opens one: a box keeps little in memory. */
import { type Static, Type } from '@sinclair/typebox'
import type { Building } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { dateOf } from '#shared/core/time-zone.ts'
import { ANALYTICS_PAGES, type AnalyticsHead, type AnalyticsPage, analyticsPath, noBuilding } from './analytics-frame.ts'
import { type Call, type Route, route, strict } from '#shared/node/http/route.ts'
import { untilGone } from '#shared/central/analytics/until-gone.ts'
import { endOfDate, MONTH, readSpan, startOfDate, WEEK } from '#shared/central/analytics/span.ts'
import type { CentralContext } from '#shared/central/context.ts'
import type { Shell } from '#shared/central/pages/shell.ts'

const ID = Type.String({ maxLength: 128 })
const DATE = Type.String({ pattern: String.raw`^\d{4}-\d{2}-\d{2}$` })
const Query = strict({
  building: Type.Optional(ID),
  from: Type.Optional(DATE),
  to: Type.Optional(DATE),
  /** Of operations. */
  sort: Type.Optional(Type.String({ maxLength: 32 })),
  /** Of the economizer. */
  equipment: Type.Optional(ID),
  /** Of anomalies. */
  point: Type.Optional(ID),
})
export type PageQuery = Static<typeof Query>
export type PageContext = Pick<CentralContext, 'model' | 'historian' | 'clock' | 'analytics' | 'results' | 'edges'>
/** What a page was asked for: days of a building, and the instants that they are. */
export type Asked = { building: Building; from: number; to: number; head: AnalyticsHead }

const SPANS: Record<AnalyticsPage, number> = { operations: MONTH, economizer: MONTH, anomalies: WEEK }
const TITLES: Record<AnalyticsPage, string> = { operations: 'Operations', economizer: 'Economizer', anomalies: 'Anomalies' }

export const analyticsPages = (context: PageContext, shell: Shell): Route[] => [
  route({
    method: 'GET',
    path: '/analytics',
    auth: 'viewer',
    summary: 'The first page of analytics',
    handle: ({ reply }) => reply.redirect(analyticsPath('operations'), 303),
  }),
  ...ANALYTICS_PAGES.map(page => pageRoute(page, context, shell)),
  route({
    method: 'GET',
    path: `${analyticsPath('operations')}.csv`,
    auth: 'viewer',
    summary: 'The figures of operations as CSV',
    query: Query,
    handle: async ({ query, reply }) => {
      const asked = await readAsked('operations', query, context)
      if (!asked) throw new Problem('unknown_building', 'No building is known yet')
      const { operationsCsv } = await import('#shared/central/analytics/views.ts')
      const { building, from, to } = asked
      const found = await context.analytics.operations({ building_id: building.building_id, from, to }, untilGone(reply))
      reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="operations.csv"')
      return reply.send(operationsCsv(found.equipment))
    },
  }),
]

const pageRoute = (page: AnalyticsPage, context: PageContext, shell: Shell): Route =>
  route({
    method: 'GET',
    path: analyticsPath(page),
    auth: 'viewer',
    summary: `The page of ${page}`,
    query: Query,
    handle: async (call: Call<undefined, PageQuery, undefined>) => {
      const asked = await readAsked(page, call.query, context)
      const here = { ...shell.here(), ...(asked && { timezone: asked.building.timezone }) }
      const { analyticsBodies } = await import('./analytics-models.ts')
      const body = asked
        ? await analyticsBodies[page](context, asked, call.query, { here, gone: untilGone(call.reply) })
        : noBuilding(page)
      return shell.document(call, { title: TITLES[page], current: '/analytics', here }, body)
    },
  })

/** @returns undefined when there is no building at all. @throws Problem unknown_building, or bad_request for a day that is none */
async function readAsked(page: AnalyticsPage, query: PageQuery, context: PageContext): Promise<Asked | undefined> {
  const buildings = context.model.buildings()
  const building_id = query.building || buildings[0]?.building_id
  if (building_id === undefined) return undefined
  const { building, ...span } = await readSpan({ building_id }, SPANS[page], context)
  const { timezone } = building
  const from = query.from === undefined ? startOfDate(dateOf(span.from, timezone), timezone) : startOfDate(query.from, timezone)
  const to = query.to === undefined ? endOfDate(dateOf(span.to - 1, timezone), timezone) : endOfDate(query.to, timezone)
  if (from === undefined || to === undefined) throw new Problem('bad_request', 'The month has no such day')
  if (from >= to) throw new Problem('invalid', 'The last day is before the first')
  const shown = { building: building_id, from: dateOf(from, timezone), to: dateOf(to - 1, timezone) }
  return { building, from, to, head: { page, query: shown, buildings, choices: [] } }
}
