/** Routes of alerts: who receives them, and what was delivered. */
import { Type } from '@sinclair/typebox'
import { webhookBody } from '#shared/core/alerts/alert-text.ts'
import { formatInstant } from '#shared/core/time.ts'
import { DONE_ANSWER, oneOf, type Route, route, strict } from '#shared/node/http/route.ts'
import { type Delivery, DELIVERY_STATES } from '#shared/node/store/alerts.ts'
import { addRoute, ALERT_ROUTE, changeRoute, removeRoute, resendDelivery, testRoute } from '#shared/central/commands/alerts.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { answerOf, INSTANT_TEXT, orNull, pageAnswer } from './schemas/record-schemas.ts'
import { SECRET_ANSWER } from './auth.ts'
import { afterOf, limitOf, PAGE, pageOf } from './list.ts'

type Context = Pick<CentralParts, 'alerts' | 'alertService' | 'clock'>

/** As it is given, with its id. */
const ROUTE_RECORD = Type.Object({ route_id: Type.String(), ...ALERT_ROUTE.properties })
const DELIVERY = Type.Object({
  ...{ delivery_id: Type.String(), route_id: Type.String() },
  alert_key: orNull(Type.String({ description: 'null for a summary or a test' })),
  message: Type.Object({}, { additionalProperties: true, description: 'what a webhook is sent' }),
  ...{ created_at: INSTANT_TEXT, due_at: INSTANT_TEXT, finished_at: orNull(INSTANT_TEXT) },
  ...{ attempts: Type.Integer(), state: oneOf(DELIVERY_STATES), error: orNull(Type.String()) },
})

const ROUTE_ID = strict({ route_id: Type.String({ maxLength: 128 }) })
const DELIVERY_ID = strict({ delivery_id: Type.String({ maxLength: 128 }) })
const ROUTES = '/api/alerts/routes'

export const alertRoutes = (context: Context): Route[] => [...routeRoutes(context), ...deliveryRoutes(context)]

const routeRoutes = (context: Context): Route[] => [
  route({
    method: 'GET',
    path: ROUTES,
    auth: 'operator',
    summary: 'Alert routes: which alerts are delivered to whom',
    reply: answerOf({ routes: Type.Array(ROUTE_RECORD) }),
    handle: () => ({ ok: true, routes: context.alerts.routes().map(stored => stored.route) }),
  }),
  route({
    method: 'POST',
    path: ROUTES,
    auth: 'admin',
    summary: 'Adds an alert route; only this answer contains its secret',
    body: ALERT_ROUTE,
    reply: answerOf({ route_id: Type.String(), secret: Type.String() }),
    action: 'add_alert_route',
    problems: ['invalid', 'conflict'],
    handle: call => {
      call.reply.header('cache-control', SECRET_ANSWER)
      return { ok: true, ...addRoute(context, call, call.body) }
    },
  }),
  route({
    method: 'PUT',
    path: `${ROUTES}/:route_id`,
    auth: 'admin',
    summary: 'Replaces an alert route; its secret stays',
    params: ROUTE_ID,
    body: ALERT_ROUTE,
    reply: answerOf({ route: ROUTE_RECORD }),
    action: 'change_alert_route',
    problems: ['invalid'],
    handle: call => ({ ok: true, route: changeRoute(context, call, call.params.route_id, call.body) }),
  }),
  route({
    method: 'DELETE',
    path: `${ROUTES}/:route_id`,
    auth: 'admin',
    summary: 'Removes an alert route',
    params: ROUTE_ID,
    reply: DONE_ANSWER,
    action: 'remove_alert_route',
    handle: call => {
      removeRoute(context, call, call.params.route_id)
      return { ok: true }
    },
  }),
  route({
    method: 'POST',
    path: `${ROUTES}/:route_id/test`,
    auth: 'admin',
    summary: 'Sends a test by an alert route and answers with the delivery',
    params: ROUTE_ID,
    reply: answerOf({ delivery: DELIVERY }),
    action: 'test_alert_route',
    handle: async call => ({ ok: true, delivery: deliveryView(await testRoute(context, call, call.params.route_id)) }),
  }),
]

const deliveryRoutes = (context: Context): Route[] => [
  route({
    method: 'GET',
    path: '/api/alerts/deliveries',
    auth: 'operator',
    summary: 'Deliveries of alerts, newest first',
    query: strict(PAGE),
    reply: pageAnswer('deliveries', DELIVERY),
    problems: ['bad_cursor'],
    handle: ({ query }) => {
      const found = context.alerts.list(limitOf(query) + 1, afterOf(query))
      const { items, ...next } = pageOf(found, query, ({ delivery_id }) => delivery_id)
      return { ok: true, deliveries: items.map(deliveryView), ...next }
    },
  }),
  route({
    method: 'POST',
    path: '/api/alerts/deliveries/:delivery_id/resend',
    auth: 'operator',
    summary: 'Sends a finished delivery once more within a minute',
    params: DELIVERY_ID,
    reply: DONE_ANSWER,
    action: 'resend_alert',
    problems: ['conflict'],
    handle: call => {
      resendDelivery(context, call, call.params.delivery_id)
      return { ok: true }
    },
  }),
]

const instantOrNull = (ms: number | null): string | null => (ms === null ? null : formatInstant(ms))

const deliveryView = ({ message, created_at, due_at, finished_at, ...rest }: Delivery) => ({
  ...rest,
  created_at: formatInstant(created_at),
  due_at: formatInstant(due_at),
  finished_at: instantOrNull(finished_at),
  message: webhookBody(message, rest.delivery_id),
})
