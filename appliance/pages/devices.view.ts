/** Devices: what is on the list of field devices, how polling goes with each, and the way to more. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { DeviceStatus, PollState } from '#shared/core/poll/poll-status.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { type State, STATES, stateIcon } from '#shared/central/ui/icons.ts'
import { type Here, moment, momentNow, momentOr } from '#shared/central/ui/moment.ts'
import { type ListPart, listSearch, pager } from '#shared/central/ui/pager.ts'
import { bytesText, shareOf } from '#shared/central/ui/words.ts'
import { parseInstant } from '#shared/core/time.ts'
import type { ProtocolTraffic } from '../core/poll/traffic.ts'
import { DRIVERS, driverOf } from '../drivers/list.ts'
import { IMPORT_FORMATS, REGISTRY_DRIVERS } from '../services/point-import.ts'
import type { DeviceEntry } from '../store/catalogue-schema.ts'
import type { CatalogueRefusal } from '../services/field-catalogue.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

export type DeviceRow = {
  device_id: string
  name: string
  where: string | null
  protocol: DeviceEntry['protocol']
  /** Null when no process says that it polls it. */
  poll: DeviceStatus | null
  points: number
  /** Points whose newest reading is good; null when another process reads them. */
  points_ok: number | null
}
export type DevicesModel = {
  here: Here
  running: boolean
  traffic: readonly ProtocolTraffic[]
  /** Those of `state` that have the words of `q`, the worst first. */
  rows: DeviceRow[]
  part: Pick<ListPart<unknown>, 'page' | 'pages'>
  counts: Record<State, number>
  state: State | undefined
  q: string
  /** Why the file on disk is not the list in use. */
  refusal: CatalogueRefusal | undefined
  links: { href: string; text: string }[]
  user: User | undefined
  csrf: string
}

export const devicesBody = (model: DevicesModel): Html => html`<h1>Devices</h1>
<p class="lead">What this box reads, and how each device answers. Nothing is ever written to a device.</p>
${model.refusal && refusalNotice(model.refusal)}
${!model.running && html`<p class="notice">Polling does not run.</p>`}
${stateChoices(model)}
${(model.part.pages > 1 || model.q !== '') && listSearch({ path: '/devices', state: { state: model.state }, q: model.q, label: say`Name, id or address` })}
${model.rows.length > 0 ? deviceTable(model) : html`<section class="card quiet-card"><p>${emptyWords(model)}</p></section>`}
${pager(model.part, page => devicesHref({ ...model, page }))}
${trafficLine(model)}
<p class="as-of">As of ${momentNow(model.here)}</p>
<div class="columns">
${importCard(model)}
${otherWays(model)}
</div>`

/** Of protocols that have sent anything. */
function trafficLine({ traffic }: DevicesModel): Html | false {
  const used = traffic.filter(({ sent_bytes, received_bytes }) => sent_bytes + received_bytes > 0)
  const words = used.map(
    ({ protocol, sent_bytes, received_bytes }) =>
      say`${titleOfProtocol(protocol)}: ${bytesText(sent_bytes)} sent, ${bytesText(received_bytes)} received`,
  )
  return used.length > 0 && html`<p class="muted">Since the start of the program ${words.join('; ')}.</p>`
}

/** @returns `1.2 kB sent, 8.4 kB received`, since the program began to poll it; a dash where nobody counts */
export function trafficWords(poll: DeviceStatus | null): string {
  const { sent_bytes, received_bytes } = poll ?? {}
  if (sent_bytes === undefined || received_bytes === undefined) return '–'
  return say`${bytesText(sent_bytes)} sent, ${bytesText(received_bytes)} received`
}

const titleOfProtocol = (protocol: string): string => DRIVERS.find(({ name }) => name === protocol)?.title ?? protocol

const refusalNotice = ({ reason, isGone }: CatalogueRefusal): Html => html`<div class="notice" role="alert">
${
  isGone
    ? html`<p><strong>The file with the devices is missing on the disk.</strong> The list below stays in use, and the next change here writes the file again. Until then a restart would begin with an empty list.</p>`
    : html`<p><strong>The file with the devices was changed on disk and is not used.</strong> The list below goes on; it cannot be changed here until the file is mended.</p>`
}
<pre class="told">${reason}</pre>
</div>`

function devicesHref({ state, q, page }: Pick<DevicesModel, 'state' | 'q'> & { page: number }): string {
  const asked = { ...(state !== undefined && { state }), ...(q !== '' && { q }), page: String(page) }
  return `/devices?${new URLSearchParams(asked)}`
}

const emptyWords = ({ state, q }: DevicesModel): string =>
  q !== ''
    ? say`No device has “${q}” in its name, id or address.`
    : state === undefined
      ? say`No device is on the list yet. Discover some, or import a list of points.`
      : say`No device is ${state}.`

function stateChoices({ counts, state }: DevicesModel): Html {
  const total = Object.values(counts).reduce((sum, n) => sum + n, 0)
  const choice = (href: string, words: Html, isChosen: boolean) =>
    html`<li><a href="${href}"${isChosen && html` aria-current="page"`}>${words}</a></li>`
  const shown = STATES.filter(one => counts[one] > 0 || one === state)
  return html`<nav class="states" aria-label="Devices by state"><ul class="choices">
${choice('/devices', html`All <span class="count">${total}</span>`, state === undefined)}
${shown.map(one => choice(`/devices?state=${one}`, html`${stateIcon(one)} <span class="count">${counts[one]}</span>`, one === state))}
</ul></nav>`
}

const deviceTable = ({ rows, here }: DevicesModel): Html => html`<table class="fleet">
<thead><tr><th scope="col">Device</th><th scope="col">State</th><th scope="col">Points</th><th scope="col">Address</th><th scope="col">Answers in</th><th scope="col">Errors</th><th scope="col">Traffic</th></tr></thead>
<tbody>${rows.map(row => deviceRow(row, here))}</tbody>
</table>`

function deviceRow({ device_id, name, where, protocol, poll, points, points_ok }: DeviceRow, here: Here): Html {
  const state = poll?.state ?? 'unknown'
  return html`<tr>
<td data-label="Device" class="what"><div><a href="/devices/${encodeURIComponent(device_id)}">${name}</a> <span class="muted">${device_id}</span>${lastError(poll)}${conflictWords(poll)}</div></td>
<td data-label="State"><div>${stateIcon(state)}<span class="muted">${sinceWords(poll, here)}</span>${errorShare(poll)}</div></td>
<td data-label="Points"><div>${points_ok === null ? points : say`${points_ok} of ${points} ok`}</div></td>
<td data-label="Address" class="address"><div>${where ?? say`not known`}<span class="muted">${driverOf({ protocol }).title}</span></div></td>
<td data-label="Answers in"><div>${rttWords(poll)}</div></td>
<td data-label="Errors"><div>${poll ? html`${poll.errors_1h} <span class="muted">in ${sayCountOf(poll.reads_1h, 'read')} of the last hour</span>` : '–'}</div></td>
<td data-label="Traffic"><div>${trafficWords(poll)}</div></td>
</tr>`
}

/** Of fewer reads a share says little. */
const SHARE_READS_MIN = 10
/** A read in twenty may fail on a busy bus. */
const SHARE_MAX = 0.05

/** A device that answers, and yet fails often, is not plainly well. */
export function errorShare(poll: DeviceStatus | null): Html | false {
  if (poll?.state !== 'ok' || poll.reads_1h < SHARE_READS_MIN) return false
  const share = poll.errors_1h / poll.reads_1h
  return share > SHARE_MAX && html`<span class="sentence error">${shareOf(share)} of its reads had errors in the last hour</span>`
}

/** A device that shares its instance with another one; one that is not read for it says so as its error. */
export const conflictWords = (poll: DeviceStatus | null): Html | false =>
  poll?.conflict !== undefined &&
  poll.conflict !== poll.last_error &&
  html`<span class="sentence error">In conflict: ${poll.conflict}</span>`

/** The last error, while it persists. */
export const lastError = (poll: DeviceStatus | null): Html | false =>
  poll !== null &&
  poll.last_error !== null &&
  LOUD.has(poll.state) &&
  html`<span class="sentence error">${poll.last_error}</span>`
const LOUD = new Set<PollState>(['down', 'fault', 'stale'])

/** @returns `12 ms, 95 % within 40 ms`; a dash before the first answer */
export function rttWords(poll: DeviceStatus | null): string {
  const { rtt_ms_p50: half = null, rtt_ms_p95: most = null } = poll ?? {}
  if (half === null) return '–'
  const ms = (value: number) => say`${Math.max(1, Math.round(value))} ms`
  return most === null ? ms(half) : say`${ms(half)}, 95 % within ${ms(most)}`
}

export const instantOf = (text: string | null | undefined): number | null => (text ? (parseInstant(text) ?? null) : null)

function sinceWords(poll: DeviceStatus | null, here: Here): Html | string {
  if (!poll) return say`no process says that it polls it`
  if (poll.state === 'ok') return html`answered ${momentOr(instantOf(poll.last_ok_at), here, say`not yet`)}`
  return html`since ${moment(instantOf(poll.since) ?? here.now, here)}`
}

const importCard = ({ user, csrf }: DevicesModel): Html => html`<section class="card" id="import">
<h2>Import a list of points</h2>
<p>Nothing is changed before you have seen a preview. Devices and points that are on the list stay as they are.</p>
<form method="post" action="/devices/import" enctype="multipart/form-data" class="fields">
${csrfField(csrf)}
<label>Format <select name="format">${Array.from(IMPORT_FORMATS, ([value, words]) => html`<option value="${value}">${say(words)}</option>`)}</select></label>
<label>Files <input type="file" name="file" multiple required accept=".csv,.txt,.tsv"></label>
<p class="muted">Of an EDE set the files <code>…_EDE.csv</code>, <code>…_StateTexts.csv</code>, <code>…_Units.csv</code> and <code>…_ObjTypes.csv</code> together; of a registry its one file.</p>
<label>Seconds between reads <input type="number" name="poll_secs" value="60" min="1" max="86400" required></label>
<details class="figures"><summary>For a registry: which device it is</summary>
<div class="fields">
<p class="muted">A registry does not say. Name a device of the list, or a new one with its address.</p>
<label>Device id <input name="device_id" maxlength="128" placeholder="rtu-1"></label>
<label>Name, if new <input name="name" maxlength="200"></label>
<label>Address, if new <input name="address" maxlength="260" placeholder="10.0.0.5"></label>
${REGISTRY_DRIVERS.map(
  ({ registry: { number } }) => html`<label>${say(number.label)}, if new <input name="${number.name}" inputmode="numeric"></label>
`,
)}</div></details>
${operatorButton(user, 'import-why', say`Show the preview`, 'primary')}
</form>
</section>`

const otherWays = ({ links }: DevicesModel): Html => html`<section class="card">
<h2>Take the list elsewhere</h2>
<ul class="plain">
<li><a href="/api/devices/export?format=csv">All points as CSV</a></li>
<li><a href="/api/devices/export?format=ede">BACnet points as EDE 2.3 (ZIP)</a></li>
</ul>
${
  links.length > 0 &&
  html`<h2>Find and try</h2>
<ul class="plain">${links.map(({ href, text }) => html`<li><a href="${href}">${text}</a></li>`)}</ul>`
}
<p class="muted">The list is the file <code>config/field-devices.json</code>. A script may write it too: a change is in use within seconds, and a file that is wrong is refused here with every place.</p>
</section>`
