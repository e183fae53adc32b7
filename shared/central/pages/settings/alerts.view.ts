/** The page of alerts: who receives which alerts, a form to add a route, and what was delivered. */
import { type AlertKind, type EdgeKind, isEdgeKind } from '#shared/core/alerts/alert.ts'
import { EDGE_LIMITS } from '#shared/core/alerts/edge-limits.ts'
import type { AlertRoute } from '#shared/core/alerts/alert-route.ts'
import type { AlertMessage } from '#shared/core/alerts/alert-text.ts'
import { PRIORITIES, PRIORITY_WORDS } from '#shared/core/findings/finding.ts'
import { formatDuration } from '#shared/core/time.ts'
import type { Building } from '#shared/core/model/model.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { Delivery, DeliveryState } from '#shared/node/store/alerts.ts'
import { ALERT_KINDS } from '#shared/central/commands/alerts.ts'
import { SILENT_MS } from '#shared/central/alerts/conditions.ts'
import { csrfField, type User } from '#shared/central/ui/frame.ts'
import { formatMoment, type Here, moment } from '#shared/central/ui/moment.ts'
import { say, sayCountOf, words } from '#shared/node/http/language.ts'

type AlertsModel = {
  routes: AlertRoute[]
  /** The newest ones, newest first. */
  deliveries: Delivery[]
  buildings: Building[]
  canMail: boolean
  user: User | undefined
  here: Here
  csrf: string
}

export const HOURS_CHOICES = words(
  [
    { value: 'any', text: 'at any time', days: undefined },
    { value: 'working', text: 'Monday to Friday', days: [1, 2, 3, 4, 5] },
    { value: 'daily', text: 'every day', days: [1, 2, 3, 4, 5, 6, 7] },
  ] as const,
  'text',
)
const WEEKDAYS = words(['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const)
const STATE_WORDS: Record<Exclude<DeliveryState, 'waiting'>, string> = words({
  sent: 'sent',
  failed: 'failed',
  dropped: 'not sent: it recovered or was snoozed before its hours',
})

export const alertsBody = (model: AlertsModel): Html => html`<h1>Alerts</h1>
<p class="lead">New faults, and what is wrong with an edge, are sent to people by mail or to another system by webhook. A fault that comes and goes is one alert.</p>
<section class="card"><h2>Routes</h2>${
  model.routes.length > 0
    ? html`<ul class="log">${model.routes.map(one => routeItem(one, model))}</ul>`
    : html`<p>None yet: no alert is sent.</p>`
}</section>
${limitsSection()}
${model.user?.role === 'admin' ? addForm(model) : html`<p class="muted">Routes are added and changed by administrators.</p>`}
<section class="card" id="deliveries"><h2>Deliveries</h2>${deliveryTable(model)}</section>`

/** Beyond which figures an edge raises an alert, on a hub. */
function limitsSection(): Html {
  const { poll, backlog, clock, certificate, disk } = EDGE_LIMITS
  return html`<section class="card"><h2>What raises an alert</h2>
<p>An open fault that nobody has snoozed or marked as not a fault. On a hub also an edge</p>
<ul><li>from which nothing came for ${formatDuration(SILENT_MS)};</li>
<li>of which nothing is stored, because two boxes use its id, its metadata is refused or the budget is used up;</li>
<li>that has not read a device for ${formatDuration(poll.raiseMs)}, or does not poll at all;</li>
<li>whose oldest message has waited for ${formatDuration(backlog.raiseMs)}, unless its backlog becomes shorter;</li>
<li>whose clock is ${formatDuration(clock.raiseMs)} off;</li>
<li>whose certificate ends within ${formatDuration(certificate.raiseMs)} and is not renewed;</li>
<li>whose disk is ${disk.raise} % full, until it is below ${disk.hold} %.</li></ul>
<p>Where more than half of at least ten edges have the same trouble, one alert stands for all of them. One that has become more urgent is sent again.</p></section>`
}

/** Shown once, after a webhook was added. */
export const newRouteBody = (name: string, secret: string): Html => html`<h1>Alerts</h1>
<section class="card"><h2>${name} was added</h2>
<p>Its secret is shown only now. The receiver verifies <code>X-Plenum-Signature</code> with it.</p>
<p><code data-secret>${secret}</code></p>
<p><a href="/alerts">Back to the alerts</a></p></section>`

const routeItem = (
  route: AlertRoute,
  model: AlertsModel,
): Html => html`<li><strong>${route.name}</strong>${!route.enabled && say` (off)`}: ${addressOf(route)}
<span class="muted">${routeWords(route, model.buildings)}</span>
${model.user?.role === 'admin' && routeForms(route, model.csrf)}</li>`

const routeForms = ({ route_id, enabled }: AlertRoute, csrf: string): Html => {
  const form = (action: string, button: Html) =>
    html`<form method="post" action="/alerts/${action}">${csrfField(csrf)}<input type="hidden" name="route_id" value="${route_id}">${button}</form>`
  return html`<div class="buttons">${form('test', html`<button>Send a test</button>`)}
${form('enable', html`<button name="enabled" value="${String(!enabled)}">${enabled ? say`Switch off` : say`Switch on`}</button>`)}
${form('remove', html`<button>Remove</button>`)}</div>`
}

const addressOf = ({ webhook_url, mail_to = [] }: AlertRoute): string => webhook_url ?? mail_to.join(', ')

/** @returns `high and medium priority, sensor, in Riverside; Monday to Friday 07:00–17:00, high priority at once; digest on Monday` */
function routeWords(route: AlertRoute, buildings: Building[]): string {
  const { building_ids, kinds, priority_max, hours, urgent_at_once, digest_day } = route
  const names = building_ids?.map(id => buildings.find(({ building_id }) => building_id === id)?.name ?? id)
  const what = [
    priorityWords(priority_max),
    ...(kinds ? [kinds.map(kindWords).join(', ')] : []),
    ...(names ? [say`in ${names.join(', ')}`] : []),
  ]
  const urgent = urgent_at_once ? say`, high priority at once` : ''
  const when = hours ? [`${daysWords(hours.days)} ${hours.from}–${hours.to}${urgent}`] : []
  const digest = digest_day === undefined ? [] : [say`digest on ${WEEKDAYS[digest_day - 1]}`]
  return [what.join(', '), ...when, ...digest].join('; ')
}

const priorityWords = (max: number): string =>
  max === PRIORITIES.length
    ? say`all priorities`
    : say`${PRIORITIES.slice(0, max)
        .map(one => say(PRIORITY_WORDS[one]))
        .join(say` and `)} priority`

const EDGE_KIND_WORDS: Record<EdgeKind, string> = words({
  edge: 'edge silent',
  refused: 'nothing of an edge is stored',
  poll: 'edge does not read devices',
  backlog: 'edge sends late',
  clock: 'clock of an edge',
  certificate: 'certificate of an edge',
  disk: 'disk of an edge',
})
const kindWords = (kind: AlertKind): string => (isEdgeKind(kind) ? EDGE_KIND_WORDS[kind] : say(kind))

const daysWords = (days: readonly number[]): string =>
  HOURS_CHOICES.find(choice => choice.days?.join() === days.join())?.text ?? days.map(day => WEEKDAYS[day - 1]).join(', ')

const addForm = ({ buildings, canMail, csrf }: AlertsModel): Html => html`<section class="card"><h2>Add a route</h2>
<form class="fields" method="post" action="/alerts">${csrfField(csrf)}
<label>Name <input name="name" required maxlength="100"></label>
<label>Webhook address <input name="webhook_url" type="url" maxlength="2000" placeholder="https://…"></label>
<label>or mail addresses <input name="mail_to" maxlength="5000" placeholder="one@example.org, two@example.org"${!canMail && html` disabled`}></label>
${!canMail && html`<input type="hidden" name="mail_to" value=""><p class="muted">Mail needs <code>SERVICE_SMTP_URL</code> and <code>SERVICE_SMTP_FROM</code>.</p>`}
<label>Building <select name="building_id"><option value="">all</option>${buildings.map(
  ({ building_id, name }) => html`<option value="${building_id}">${name}</option>`,
)}</select></label>
<label>Kind <select name="kind"><option value="">all</option>${ALERT_KINDS.map(kind => html`<option value="${kind}">${kindWords(kind)}</option>`)}</select></label>
<label>Priority <select name="priority_max">${PRIORITIES.toReversed().map(
  max => html`<option value="${String(max)}">${priorityWords(max)}</option>`,
)}</select></label>
<label>When <select name="hours">${HOURS_CHOICES.map(({ value, text }) => html`<option value="${value}">${text}</option>`)}</select></label>
<label class="hours-only">From <input name="from" type="time" value="07:00"></label>
<label class="hours-only">To <input name="to" type="time" value="17:00"></label>
<label class="hours-only">High priority <select name="urgent_at_once"><option value="true">is sent at once</option><option value="false">waits for the hours as well</option></select></label>
<label>Weekly digest <select name="digest_day"><option value="">none</option>${WEEKDAYS.map(
  (day, i) => html`<option value="${String(i + 1)}">${day}, 07:00</option>`,
)}</select></label>
<p class="muted hours-only">Hours are those of the building. An alert outside them waits until they begin.</p>
<button>Add</button></form></section>`

function deliveryTable({ deliveries, routes, here, user, csrf }: AlertsModel): Html {
  if (deliveries.length === 0) return html`<p>None yet.</p>`
  const names = new Map(routes.map(({ route_id, name }) => [route_id, name]))
  return html`<table class="tried"><thead><tr><th scope="col">Created</th><th scope="col">Alert</th><th scope="col">Route</th><th scope="col">State</th></tr></thead>
<tbody>${deliveries.map(
    delivery => html`<tr>
<td data-label="Created"><div>${moment(delivery.created_at, here)}</div></td>
<td data-label="Alert"><div>${messageWords(delivery.message, here)}</div></td>
<td data-label="Route"><div>${names.get(delivery.route_id) ?? say`a removed route`}</div></td>
<td data-label="State"><div>${stateText(delivery, here)}${
      user?.mayOperate === true &&
      delivery.state !== 'waiting' &&
      names.has(delivery.route_id) &&
      resendForm(delivery.delivery_id, csrf)
    }</div></td>
</tr>`,
  )}</tbody></table>`
}

const resendForm = (
  delivery_id: string,
  csrf: string,
): Html => html` <form method="post" action="/alerts/resend">${csrfField(csrf)}
<input type="hidden" name="delivery_id" value="${delivery_id}"><button>Send again</button></form>`

/** What is wrong and where, since when, with the way to its page. */
function messageWords(message: AlertMessage, here: Here): Html | string {
  if ('test' in message) return say`Test`
  if ('digest' in message) return say`Weekly digest`
  const { type, condition } = message.alert
  const { title, building_name, path, detail, since } = condition
  return html`${type === 'recovered' && say`Recovered: `}<a href="${path}">${say(title)}</a>, ${building_name}<br><span class="muted">${detail} ${say`Since ${formatMoment(since, here)}.`}</span>`
}

function stateText({ state, attempts, error, due_at }: Delivery, here: Here): string {
  const tries = attempts > 1 ? say` after ${sayCountOf(attempts, 'attempt')}` : ''
  if (state === 'waiting' && error === null) return say`waits until ${formatMoment(due_at, here)}`
  if (state === 'waiting') return say`${error}; next attempt ${formatMoment(due_at, here)}`
  return `${STATE_WORDS[state]}${tries}${error === null ? '' : `: ${error}`}`
}
