/** The page of alerts and its forms. */
import { type Static, Type } from '@sinclair/typebox'
import type { AlertRoute } from '#shared/core/alerts/alert-route.ts'
import { type Priority, PRIORITIES } from '#shared/core/findings/finding.ts'
import { ID } from '#shared/core/model/model.ts'
import { oneOf, orBlank, type Route, route, strict } from '#shared/node/http/route.ts'
import { fits } from '#shared/node/http/schema-check.ts'
import {
  addRoute,
  ALERT_KINDS,
  ALERT_ROUTE,
  changeRoute,
  CLOCK,
  END_CLOCK,
  type GivenRoute,
  MAIL_ADDRESS,
  needRoute,
  removeRoute,
  resendDelivery,
  testRoute,
} from '#shared/central/commands/alerts.ts'
import { SECRET_ANSWER } from '#shared/central/api/auth.ts'
import { invalidField } from '#shared/central/commands/command.ts'
import type { CentralParts } from '#shared/central/context.ts'
import type { PageLayout } from '#shared/central/pages/layout.ts'
import { alertsBody, HOURS_CHOICES, newRouteBody } from './alerts.view.ts'
import { words } from '#shared/node/http/language.ts'

const AT = words({ title: 'Alerts', current: '/alerts' }, 'title')
/** Deliveries on the page; the API lists all. */
const DELIVERIES_SHOWN = 50
const ROUTE_ID = strict({ route_id: ID })
const NEW_ROUTE = strict({
  name: ALERT_ROUTE.properties.name,
  webhook_url: orBlank(ALERT_ROUTE.properties.webhook_url),
  /** Mail addresses with commas or spaces between them. */
  mail_to: Type.String({ maxLength: 5000 }),
  building_id: orBlank(ID),
  kind: orBlank(oneOf(ALERT_KINDS)),
  priority_max: oneOf(PRIORITIES.map(String)),
  hours: oneOf(HOURS_CHOICES.map(({ value }) => value)),
  from: orBlank(CLOCK),
  to: orBlank(END_CLOCK),
  urgent_at_once: Type.Boolean(),
  digest_day: oneOf(['', '1', '2', '3', '4', '5', '6', '7']),
})

export const alertsPage = (context: CentralParts, layout: PageLayout): Route[] => [
  route({
    method: 'GET',
    path: '/alerts',
    auth: 'operator',
    summary: 'The page of alerts',
    handle: call => {
      const { alerts, alertService, model } = context
      return layout.document(
        call,
        AT,
        alertsBody({
          routes: alerts.routes().map(stored => stored.route),
          deliveries: alerts.list(DELIVERIES_SHOWN, undefined),
          buildings: model.buildings(),
          canMail: alertService.canMail,
          user: layout.userOf(call.caller),
          here: layout.here(),
          csrf: layout.csrfOf(call.caller),
        }),
      )
    },
  }),
  route({
    method: 'POST',
    path: '/alerts',
    auth: 'admin',
    summary: 'The form that adds an alert route and shows its secret once',
    takes: 'form',
    body: NEW_ROUTE,
    action: 'add_alert_route',
    problems: ['invalid', 'conflict'],
    handle: call => {
      const given = routeOf(call.body)
      const { secret } = addRoute(context, call, given)
      if (given.webhook_url === undefined) return call.reply.redirect('/alerts', 303)
      call.reply.header('cache-control', SECRET_ANSWER)
      return layout.document(call, AT, newRouteBody(given.name, secret))
    },
  }),
  ...changeForms(context),
]

const changeForms = (context: CentralParts): Route[] => [
  route({
    method: 'POST',
    path: '/alerts/enable',
    auth: 'admin',
    summary: 'The form that switches an alert route on or off',
    takes: 'form',
    body: strict({ route_id: ID, enabled: Type.Boolean() }),
    action: 'change_alert_route',
    handle: call => {
      const { route_id, enabled } = call.body
      const { route_id: _id, ...given } = needRoute(context, route_id).route
      changeRoute(context, call, route_id, { ...given, enabled })
      return call.reply.redirect('/alerts', 303)
    },
  }),
  route({
    method: 'POST',
    path: '/alerts/test',
    auth: 'admin',
    summary: 'The form that sends a test by an alert route',
    takes: 'form',
    body: ROUTE_ID,
    action: 'test_alert_route',
    handle: async call => {
      await testRoute(context, call, call.body.route_id)
      return call.reply.redirect('/alerts#deliveries', 303)
    },
  }),
  route({
    method: 'POST',
    path: '/alerts/remove',
    auth: 'admin',
    summary: 'The form that removes an alert route',
    takes: 'form',
    body: ROUTE_ID,
    action: 'remove_alert_route',
    handle: call => {
      removeRoute(context, call, call.body.route_id)
      return call.reply.redirect('/alerts', 303)
    },
  }),
  route({
    method: 'POST',
    path: '/alerts/resend',
    auth: 'operator',
    summary: 'The form that sends a delivery once more',
    takes: 'form',
    body: strict({ delivery_id: ID }),
    action: 'resend_alert',
    problems: ['conflict'],
    handle: call => {
      resendDelivery(context, call, call.body.delivery_id)
      return call.reply.redirect('/alerts#deliveries', 303)
    },
  }),
]

function routeOf(form: Static<typeof NEW_ROUTE>): GivenRoute {
  const { name, webhook_url, mail_to, building_id, kind, priority_max, urgent_at_once, digest_day } = form
  const hours = hoursOf(form)
  return {
    name,
    ...(webhook_url !== '' && { webhook_url }),
    ...(mail_to.trim() !== '' && { mail_to: addressesOf(mail_to) }),
    ...(building_id !== '' && { building_ids: [building_id] }),
    ...(kind !== '' && { kinds: [kind] }),
    priority_max: Number(priority_max) as Priority,
    ...(hours && { hours }),
    urgent_at_once,
    ...(digest_day !== '' && { digest_day: Number(digest_day) }),
  }
}

/** @throws Problem invalid that names the first wrong address */
function addressesOf(text: string): string[] {
  const addresses = text.split(/[\s,;]+/).filter(one => one !== '')
  const wrong = addresses.find(one => !fits(MAIL_ADDRESS, one))
  if (wrong !== undefined) throw invalidField('mail_to', `${wrong} is not a mail address`)
  return addresses
}

/** @throws Problem invalid that names the hour that is missing */
function hoursOf({ hours, from, to }: Static<typeof NEW_ROUTE>): AlertRoute['hours'] {
  const { days } = HOURS_CHOICES.find(({ value }) => value === hours)!
  if (!days) return undefined
  if (from === '') throw invalidField('from', 'Give the hour at which deliveries begin')
  if (to === '') throw invalidField('to', 'Give the hour at which deliveries end')
  return { days: [...days], from, to }
}
