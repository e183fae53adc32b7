/** Commands on routes and deliveries of alerts. */
import { randomBytes, randomUUID } from 'node:crypto'
import { type Static, Type } from '@sinclair/typebox'
import type { AlertRoute } from '#shared/core/alerts/alert-route.ts'
import { EDGE_KINDS } from '#shared/core/alerts/alert.ts'
import { FINDING_KINDS, type Priority } from '#shared/core/findings/finding.ts'
import { ID } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import { oneOf, strict } from '#shared/node/http/route.ts'
import type { Delivery, StoredRoute } from '#shared/node/store/alerts.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { type Actor, invalidField } from './command.ts'

/** Routes of one process: the page lists them all. */
const ROUTES_MAX = 100
export const CLOCK = Type.String({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' })
export const END_CLOCK = Type.String({ pattern: '^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$' })
const WEEKDAY = Type.Integer({ minimum: 1, maximum: 7 })
export const ALERT_KINDS = [...FINDING_KINDS, ...EDGE_KINDS] as const
/** Plain addresses only: no names, no comments, no line ends. */
export const MAIL_ADDRESS = Type.String({ pattern: '^[^\\s@<>,;:"()\\[\\]\\\\]+@[^\\s@<>,;:"()\\[\\]\\\\]+$', maxLength: 254 })
const WEB_ADDRESS = Type.String({ pattern: '^https?://[^\\s]+$', maxLength: 2000 })

export const ALERT_ROUTE = strict({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  enabled: Type.Optional(Type.Boolean({ default: true })),
  webhook_url: Type.Optional(WEB_ADDRESS),
  mail_to: Type.Optional(Type.Array(MAIL_ADDRESS, { minItems: 1, maxItems: 50 })),
  building_ids: Type.Optional(Type.Array(ID, { minItems: 1, maxItems: 1000 })),
  kinds: Type.Optional(Type.Array(oneOf(ALERT_KINDS), { minItems: 1, maxItems: ALERT_KINDS.length })),
  priority_max: Type.Optional(Type.Unsafe<Priority>({ type: 'integer', minimum: 1, maximum: 3, default: 3 })),
  hours: Type.Optional(strict({ days: Type.Array(WEEKDAY, { minItems: 1, maxItems: 7 }), from: CLOCK, to: END_CLOCK })),
  urgent_at_once: Type.Optional(Type.Boolean({ default: true })),
  digest_day: Type.Optional(WEEKDAY),
})
export type GivenRoute = Static<typeof ALERT_ROUTE>
type AlertContext = Pick<CentralParts, 'alerts' | 'alertService' | 'clock'>

/** @throws Problem not_found */
export function needRoute({ alerts }: Pick<AlertContext, 'alerts'>, route_id: string): StoredRoute {
  const stored = alerts.routes().find(({ route }) => route.route_id === route_id)
  if (!stored) throw new Problem('not_found', `There is no alert route ${route_id}`)
  return stored
}

/**
 * Adds a route. @returns its id, and the secret that signs its webhooks, which is shown this once
 * @throws Problem invalid that names the field, conflict beyond `ROUTES_MAX`
 */
export function addRoute(
  context: AlertContext,
  { audit }: Pick<Actor, 'audit'>,
  given: GivenRoute,
): { route_id: string; secret: string } {
  const { alerts, clock } = context
  if (alerts.routes().length >= ROUTES_MAX)
    throw new Problem('conflict', `There are ${ROUTES_MAX} alert routes; delete one first`)
  const route = toRoute(context, randomUUID(), given)
  const secret = randomBytes(32).toString('base64url')
  alerts.putRoute({ route, secret, digest_at: clock.now() })
  audit({ subject: route.route_id, after: route })
  return { route_id: route.route_id, secret }
}

/** Replaces a route; its secret stays. @throws as `addRoute`, and Problem not_found */
export function changeRoute(
  context: AlertContext,
  { audit }: Pick<Actor, 'audit'>,
  route_id: string,
  given: GivenRoute,
): AlertRoute {
  const before = needRoute(context, route_id)
  const route = toRoute(context, route_id, given)
  context.alerts.putRoute({ ...before, route })
  audit({ subject: route_id, before: before.route, after: route })
  return route
}

/** Removes a route; what waits for it is not sent. @throws Problem not_found */
export function removeRoute(context: Pick<AlertContext, 'alerts'>, { audit }: Pick<Actor, 'audit'>, route_id: string): void {
  const { route } = needRoute(context, route_id)
  context.alerts.removeRoute(route_id)
  audit({ subject: route_id, before: route })
}

/** Sends a test at once. @returns what became of it. @throws Problem not_found */
export async function testRoute(context: AlertContext, { audit }: Pick<Actor, 'audit'>, route_id: string): Promise<Delivery> {
  const stored = needRoute(context, route_id)
  audit({ subject: route_id })
  return context.alertService.sendTest(stored)
}

/** Queues a finished delivery once more, for the next minute. @throws Problem not_found, or conflict while it waits */
export function resendDelivery(
  { alerts, clock }: Pick<AlertContext, 'alerts' | 'clock'>,
  { audit }: Pick<Actor, 'audit'>,
  delivery_id: string,
): void {
  const delivery = alerts.get(delivery_id)
  if (!delivery) throw new Problem('not_found', `There is no delivery ${delivery_id}`)
  if (delivery.state === 'waiting') throw new Problem('conflict', 'This delivery waits to be sent already')
  alerts.put({ ...delivery, state: 'waiting', due_at: clock.now(), attempts: 0, error: null, finished_at: null })
  audit({ subject: delivery_id })
}

function toRoute({ alertService }: Pick<AlertContext, 'alertService'>, route_id: string, given: GivenRoute): AlertRoute {
  const { webhook_url, mail_to, hours } = given
  if ((webhook_url === undefined) === (mail_to === undefined)) {
    throw invalidField('webhook_url', 'give either webhook_url or mail_to')
  }
  if (webhook_url !== undefined && !URL.canParse(webhook_url))
    throw invalidField('webhook_url', `${webhook_url} is no web address`)
  if (mail_to && !alertService.canMail) throw invalidField('mail_to', 'no mail server is set (SERVICE_SMTP_URL)')
  if (hours && hours.from >= hours.to) throw invalidField('hours', `${hours.from} is not before ${hours.to}`)
  const { enabled = true, priority_max = 3, urgent_at_once = true } = given
  return { ...given, route_id, enabled, priority_max, urgent_at_once }
}
