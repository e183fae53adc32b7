/** One device: where it is, how polling goes, and what each point said last. */
import { objectName } from '#shared/core/bacnet/object-name.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { DeviceStatus, PointStatus } from '#shared/core/poll/poll-status.ts'
import type { Value } from '#shared/core/telemetry/reading.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { stateIcon } from '#shared/central/ui/icons.ts'
import { equipmentLink, pointHref, readHref } from '#shared/central/ui/links.ts'
import { roleWords, unitLabel } from '#shared/central/ui/measure.ts'
import { type Here, momentAge, momentNow, momentOr, nextMoment } from '#shared/central/ui/moment.ts'
import { pager } from '#shared/central/ui/pager.ts'
import { driverOf, sectionOf } from '../drivers/list.ts'
import type { DeviceEntry, PointEntry } from '../store/catalogue-schema.ts'
import { editForms } from './device-edit.view.ts'
import { conflictWords, errorShare, instantOf, lastError, rttWords, trafficWords } from './devices.view.ts'
import { say, sayCountOf, sayFigure } from '#shared/node/http/language.ts'

/** The points refresh themselves this often. */
const REFRESH_SECS = 10

export type DeviceModel = {
  here: Here
  device: DeviceEntry
  building_id: string
  where: string | null
  poll: DeviceStatus | null
  /** Those of this page, with what is known of each. */
  points: { entry: PointEntry; status: PointStatus | undefined }[]
  page: number
  pages: number
  user: User | undefined
  csrf: string
}

export const deviceBody = (model: DeviceModel): Html => html`<p class="crumbs"><a href="/devices">Devices</a></p>
<h1>${model.device.name}</h1>
${devicePoints(model)}
${editForms(model)}
${actions(model)}`

/** The part that htmx asks for again. */
export function devicePoints(model: DeviceModel): Html {
  const { device, here, points, page, pages } = model
  const path = pathOf(device)
  return html`<div id="device" hx-get="${path}/points?page=${page}" hx-trigger="every ${REFRESH_SECS}s" hx-target="#device" hx-swap="outerMorph" data-refresh-secs="${REFRESH_SECS}">
${facts(model)}
${points.length > 0 && points.every(({ status }) => !status) && html`<p class="muted">This process does not read these points; what another one reads of them is in history.</p>`}
${
  points.length > 0
    ? html`<table class="fleet">
<thead><tr><th scope="col">Point</th><th scope="col">Value</th><th scope="col">State</th><th scope="col">Observed</th><th scope="col">Address</th><th scope="col">Used as</th></tr></thead>
<tbody>${points.map(point => pointRow(point, model))}</tbody>
</table>`
    : html`<p class="card">It has no points.</p>`
}
${pager({ page, pages }, n => `${path}?page=${n}`)}
<p class="as-of">As of ${momentNow(here)} <span class="feed" role="status"></span> <a href="${path}?page=${page}">Refresh</a></p>
</div>`
}

const pathOf = ({ device_id }: DeviceEntry): string => `/devices/${encodeURIComponent(device_id)}`

function facts({ device, where, poll, here }: DeviceModel): Html {
  const driver = driverOf(device)
  const error = lastError(poll)
  const conflict = conflictWords(poll)
  const lines: [string, Html | string][] = [
    [
      say`State`,
      html`${stateIcon(poll?.state ?? 'unknown')}${poll && html`<br><span class="muted">since ${momentOr(instantOf(poll.since), here, say`start`)}</span>`}${errorShare(poll)}`,
    ],
    [say`Address`, where ?? say`not known`],
    [say`Id`, html`<code>${device.device_id}</code>`],
    ...(driver.listFacts?.(sectionOf(device, driver)) ?? []).map(([term, what]): [string, string] => [say(term), what]),
    [say`Last answer`, momentOr(instantOf(poll?.last_ok_at), here, say`never`)],
    [say`Answers in`, rttWords(poll)],
    [say`Errors in the last hour`, poll ? say`${poll.errors_1h} in ${sayCountOf(poll.reads_1h, 'read')}` : '–'],
    [say`Errors since polling began`, poll ? say`${poll.errors} in ${sayCountOf(poll.reads, 'read')}` : '–'],
    [say`Traffic of polling`, trafficWords(poll)],
    [
      say`Next read`,
      device.enabled ? nextMoment(instantOf(poll?.next_due_at), here, say`not planned`) : say`never: it is switched off`,
    ],
  ]
  return html`<dl class="facts card">${lines.map(([term, what]) => html`<div><dt>${term}</dt><dd>${what}</dd></div>`)}</dl>
${error && html`<p class="notice">${error}</p>`}${conflict && html`<p class="notice">${conflict}</p>`}`
}

function pointRow({ entry, status }: DeviceModel['points'][number], model: DeviceModel): Html {
  const { here, building_id } = model
  const { point_id, name, poll_secs, role, equipment_id } = entry
  const last = status?.last
  return html`<tr>
<td data-label="Point" class="what"><div><a href="${pointHref({ building_id, point_id })}">${name}</a><span class="muted">${point_id}</span></div></td>
<td data-label="Value"><div>${last ? valueWords(last.v, entry) : '–'}</div></td>
<td data-label="State"><div>${stateIcon(status?.state ?? 'unknown')}${last && last.q !== 'good' && html`<span class="muted">quality ${last.q}</span>`}</div></td>
<td data-label="Observed"><div>${last ? momentAge(last.t, here) : say`not yet`}<span class="muted">every ${poll_secs} s</span></div></td>
<td data-label="Address" class="address"><div>${readLink(entry, model)}</div></td>
<td data-label="Used as"><div>${role === undefined ? '–' : html`${roleWords(role)} <code>${role}</code>`}${equipment_id !== undefined && html`<span class="muted">of ${equipmentLink({ building_id, equipment_id }, equipment_id)}</span>`}</div></td>
</tr>`
}

/** The address, for an operator a link that reads the object behind it now. */
function readLink({ address }: PointEntry, { device, user }: DeviceModel): Html {
  const href = readHref(device.protocol, `${device.device_id}/${address}`)
  const text = html`<code>${device.bacnet ? objectName(address) : address}</code>`
  const link = href !== undefined && user?.mayOperate ? html`<a href="${href}">${text}</a>` : text
  return html`${link}${device.bacnet && html`<span class="muted"><code>${address}</code></span>`}`
}

/** In the point's own unit, as the device is asked: this page is for finding what is declared wrong. */
function valueWords(value: Value, { kind, unit, states }: PointEntry): string {
  if (value === null) return say`no value`
  if (typeof value === 'string') return value
  const text = states?.[Number(value)]
  if (text) return `${text} (${Number(value)})`
  if (typeof value === 'boolean') return value ? say`on` : say`off`
  const figure = sayFigure(Number(value.toPrecision(5)))
  return kind === 'number' && unit !== 'count' ? `${figure} ${unitLabel(unit)}` : figure
}

function actions({ device, user, csrf }: DeviceModel): Html {
  const path = pathOf(device)
  const [word, what] = device.enabled
    ? [say`Switch off`, say`Switched off, it is asked nothing any more; its points and their history stay.`]
    : [say`Switch on`, say`Switched on, it is polled again.`]
  return html`<section class="card actions" id="change">
<h2>Switch off or remove</h2>
<form method="post" action="${path}/enabled">${csrfField(csrf)}<input type="hidden" name="enabled" value="${device.enabled ? 'false' : 'true'}">
<p>${what}</p>${operatorButton(user, 'enabled-why', word!)}</form>
<form method="post" action="${path}/remove">${csrfField(csrf)}
<p>Removed, it leaves the list with its ${sayCountOf(device.points.length, 'point')}; what was read of them stays in history.</p>
<label class="check"><input type="checkbox" name="confirm" value="true" required> Yes, remove ${device.name}</label>
${operatorButton(user, 'remove-why', say`Remove`)}</form>
</section>`
}
