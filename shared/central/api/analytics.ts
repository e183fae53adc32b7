import { Type } from '@sinclair/typebox'
import { ID } from '#shared/core/model/model.ts'
import { DT_MIN } from '#shared/core/analytics/economizer-cells.ts'
import { HIGH_LIMIT } from '#shared/core/analytics/free-cooling.ts'
import { formatInstant } from '#shared/core/time.ts'
import { route, type Route, strict } from '#shared/node/http/route.ts'
import { MONTH, readSpan, WEEK, wholeHours } from '#shared/central/analytics/span.ts'
import { abortOnClose } from '#shared/central/analytics/service.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { ECONOMIZER_ANSWER, OPERATIONS_ANSWER, SCORES_ANSWER, SCREENING_STATUS } from './schemas/analytics-schemas.ts'

const MOMENT = Type.Optional(Type.String({ maxLength: 40, description: 'an instant, or a day of the building' }))
/** Equipment of one request. */
const EQUIPMENT_MAX = 100
/** Default bound of the scores that are listed: rare among usual hours. */
export const SCORE_LEAST = 5

/** The views of answers are loaded with the first request, because an appliance has little memory. */
const views = () => import('#shared/central/analytics/views.ts')

export const analyticsRoutes = (context: CentralContext): Route[] => [
  economizerRoute(context),
  operationsRoute(context),
  ...anomalyRoutes(context),
]

const economizerRoute = (context: CentralContext) =>
  route({
    method: 'POST',
    path: '/api/analytics/economizer',
    auth: 'viewer',
    summary: 'Share of outdoor air by damper position, use of the high limit and change-over of air handlers',
    body: strict({
      building_id: ID,
      equipment_ids: Type.Optional(Type.Array(ID, { minItems: 1, maxItems: EQUIPMENT_MAX })),
      from: MOMENT,
      to: MOMENT,
      dt_min: Type.Optional(Type.Number({ minimum: 1, maximum: 20, default: DT_MIN, description: 'K' })),
      high_limit: Type.Optional(Type.Number({ minimum: 10, maximum: 35, default: HIGH_LIMIT, description: '°C' })),
    }),
    reply: ECONOMIZER_ANSWER,
    action: 'analyse_economizer',
    changesNothing: true,
    problems: ['unknown_building', 'unknown_equipment', 'invalid', 'query_failed', 'not_ready'],
    handle: async ({ body: { equipment_ids, dt_min = DT_MIN, high_limit = HIGH_LIMIT, ...asked }, reply }) => {
      const { building: _building, ...span } = readSpan(asked, MONTH, context)
      const params = { dt_min, high_limit }
      const answers = await context.analytics.economizer({ ...span, ...params, equipment_ids }, abortOnClose(reply))
      const { building_id, from, to } = span
      const told = { ok: true, building_id, from: formatInstant(from), to: formatInstant(to), ...params }
      const { economizerView } = await views()
      return { ...told, equipment: answers.map(answer => economizerView(answer, params)) }
    },
  })

const operationsRoute = (context: CentralContext) =>
  route({
    method: 'GET',
    path: '/api/analytics/operations',
    auth: 'viewer',
    summary: 'Running hours, comfort, mean zone temperature and hours in fault by equipment and building day; JSON or CSV',
    answers: ['application/json', 'text/csv'],
    query: strict({ building_id: ID, from: MOMENT, to: MOMENT }),
    reply: OPERATIONS_ANSWER,
    problems: ['unknown_building', 'invalid', 'query_failed', 'not_ready'],
    handle: async ({ query, request, reply }) => {
      const { building, ...span } = readSpan(query, MONTH, context)
      const found = await context.analytics.operations(span, abortOnClose(reply))
      const { operationsCsv, operationsView } = await views()
      if (request.headers.accept?.includes('text/csv')) {
        return reply.type('text/csv; charset=utf-8').send(operationsCsv(found.equipment))
      }
      const { building_id, timezone } = building
      const { from, to } = span
      return {
        ok: true,
        building_id,
        timezone,
        from: formatInstant(from),
        to: formatInstant(to),
        history_read_at: formatInstant(found.at),
        ...operationsView(found, building),
      }
    },
  })

const anomalyRoutes = (context: CentralContext): Route[] => [
  route({
    method: 'GET',
    path: '/api/analytics/sql-anomaly/status',
    auth: 'viewer',
    summary: 'Whether anomalies are screened for, and what the newest screenings found',
    reply: SCREENING_STATUS,
    handle: () => {
      const { screened, ...status } = context.analytics.screening.status()
      return { ok: true, ...status, screened: screened.map(({ at, ...one }) => ({ ...one, at: formatInstant(at) })) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/analytics/sql-anomaly/scores',
    auth: 'viewer',
    summary: 'Hours that are unlike the same hours of past weeks, the most unusual first; every hour of one point',
    query: strict({
      building_id: ID,
      equipment_id: Type.Optional(ID),
      point_id: Type.Optional(ID),
      from: MOMENT,
      to: MOMENT,
      min_score: Type.Optional(Type.Number({ minimum: 1, maximum: 1000, default: SCORE_LEAST })),
    }),
    reply: SCORES_ANSWER,
    problems: ['unknown_building', 'unknown_point', 'screening_disabled', 'invalid', 'query_failed', 'not_ready'],
    handle: async ({ query: { equipment_id, point_id, min_score = SCORE_LEAST, ...asked } }) => {
      const { building, ...span } = readSpan(asked, WEEK, context)
      const { building_id } = building
      const request = { ...wholeHours(span), equipment_id, point_id, least: min_score }
      const found = await context.analytics.screening.scores(request)
      const { screeningView } = await views()
      return { ok: true, building_id, min_score, ...screeningView(found, context.model.points(building_id)) }
    },
  }),
]
