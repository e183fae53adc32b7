/** The page of discovery: the form, the devices found, changes against the list, and the diagnosis. */
import { nameTable } from '#shared/core/name-table.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type DeviceChange, silentAddresses } from '../core/discovery/changes.ts'
import { BOUNDS, type FormFields, type RequestError } from '../core/discovery/request.ts'
import { type DeviceOutcome, type DeviceResult, type Discovery } from '../core/discovery/discovery.ts'
import { formatAddress } from '../core/address.ts'
import type { Diagnosis } from '../core/discovery/diagnosis.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { type State, stateIcon } from '#shared/central/ui/icons.ts'
import { type Here, momentAge, momentNow } from '#shared/central/ui/moment.ts'
import { formatDuration } from '#shared/core/time.ts'
import { whyBody } from './discover-diagnosis.view.ts'
import { say, sayCount, sayCountOf, words, sayMade } from '#shared/node/http/language.ts'

/** A running discovery shows what is new this often. */
const REFRESH_SECS = 2
/** Lines that the log shows while it runs; the newest stand first. */
const LINES_SHOWN = 20

export type DiscoverModel = {
  here: Here
  csrf: string
  enabled: boolean
  fields: FormFields
  errors: RequestError[]
  discovery: Discovery | undefined
  changes: DeviceChange[]
  why: Diagnosis | undefined
  added: { at: number; devices: number; points: number } | undefined
  poll_secs: number
}

export const discoverBody = (model: DiscoverModel): Html => html`<h1>Discover BACnet devices</h1>
<p class="lead">Calls the devices of the OT network and reads their objects. Nothing is ever written to a device, nothing is added before you choose it, and polling continues.</p>
${model.added && html`<p class="notice" role="status">Added ${momentAge(model.added.at, model.here)}: ${sayCountOf(model.added.devices, 'device')} with ${sayCountOf(model.added.points, 'new point')}. They are polled now. <a href="/commission/equipment">Put them into equipment</a></p>`}
${startForm(model)}
${model.discovery && progress(model, model.discovery)}
${model.discovery && model.discovery.state !== 'running' && results(model, model.discovery)}`

function startForm({ enabled, csrf, fields, errors, discovery }: DiscoverModel): Html {
  if (!enabled)
    return html`<section class="card"><h2>Discovery is switched off</h2><p>To enable it, start the appliance with <code>SERVICE_BACNET_DISCOVERY=1</code>.</p></section>`
  const isRunning = discovery?.state === 'running'
  return html`<section class="card"><h2>Whom to call</h2>
${errors.length > 0 && html`<ul class="notice" role="alert">${errors.map(({ pointer, message }) => html`<li><strong>${LABELS[pointer.split('/')[1] ?? ''] ?? pointer}:</strong> ${sayMade(message)}</li>`)}</ul>`}
<form method="post" action="/discover" class="ask">${csrfField(csrf)}
${field('low', fields, say`of a device`, `${BOUNDS.instance[0]}`, 'numeric')}
${field('high', fields, say`of a device`, `${BOUNDS.instance[1]}`, 'numeric')}
${field('network', fields, say`all, local, number`, 'all')}
${field('seconds', fields, say`${BOUNDS.seconds[0]} to ${BOUNDS.seconds[1]}`, '5', 'numeric')}
${field('requests_per_second', fields, say`${BOUNDS.requests_per_second[0]} to ${BOUNDS.requests_per_second[1]}`, '20', 'numeric')}
<label class="long">Addresses <span class="muted">instead of everybody: 10.0.0.7 or 10.0.0.7:47809, parted by blanks</span><textarea name="addresses" rows="1" autocapitalize="none" spellcheck="false">${fields.addresses}</textarea></label>
<button class="primary"${isRunning && html` disabled aria-describedby="why-not"`}>Start</button>
${isRunning && html`<p class="why" id="why-not">One discovery at a time: wait for this one, or stop it.</p>`}
</form></section>`
}

const LABELS = words(
  nameTable<string>({
    low: 'Lowest instance',
    high: 'Highest instance',
    network: 'Network',
    seconds: 'Seconds to wait',
    requests_per_second: 'Requests a second',
    addresses: 'Addresses',
  }),
)

const field = (
  name: Exclude<keyof FormFields, 'addresses'>,
  fields: FormFields,
  hint: string,
  placeholder: string,
  mode = 'text',
): Html =>
  html`<label>${LABELS[name]} <span class="muted">${hint}</span><input name="${name}" value="${fields[name]}" placeholder="${placeholder}" inputmode="${mode}" autocapitalize="none"></label>`

/** The part that refreshes itself while a discovery runs. */
export function progress({ csrf, here }: Pick<DiscoverModel, 'csrf' | 'here'>, discovery: Discovery): Html {
  const { state, i_ams, devices, log, lines, started_at, finished_at, error } = discovery
  const isRunning = state === 'running'
  const read = devices.filter(({ outcome }) => outcome !== 'waiting' && outcome !== 'reading').length
  const feed =
    isRunning &&
    html` hx-get="/discover/progress" hx-trigger="every ${REFRESH_SECS}s, refresh" hx-target="#progress" hx-swap="outerMorph" data-refresh-secs="${REFRESH_SECS}"`
  const shown = isRunning ? log.slice(-LINES_SHOWN) : log
  const newest = html`<ol class="log">${shown.toReversed().map(({ at, text }) => html`<li>${momentNow({ ...here, now: at })} ${text}</li>`)}</ol>`
  return html`<section class="card" id="progress"${feed}>
<h2>${STATE_WORDS[state]}</h2>
<p>${sayCountOf(i_ams.heard, 'answer')} heard from ${sayCountOf(devices.length, 'device')}; ${read} of them read. Begun ${momentAge(started_at, here)}${finished_at !== null && html`, took ${formatDuration(finished_at - started_at)}`}.</p>
${error !== null && html`<p class="error"><strong>${error}</strong></p>`}
${
  isRunning
    ? html`<form method="post" action="/discover/stop">${csrfField(csrf)}<button>Stop</button></form>${newest}
<p class="as-of"><span class="feed" role="status"></span> <a href="/discover">Refresh</a></p>`
    : html`<details><summary>Log, ${sayCountOf(lines, 'line')}</summary>${newest}</details>`
}
</section>`
}

const STATE_WORDS: Record<Discovery['state'], string> = words({
  running: 'Running',
  done: 'Done',
  stopped: 'Stopped',
  failed: 'Failed',
})

function results(model: DiscoverModel, discovery: Discovery): Html {
  const { changes, poll_secs, why } = model
  const silent = silentAddresses(discovery)
  const missing = changes.filter(({ change }) => change === 'missing')
  const rows = discovery.devices.map(device => ({ device, change: changes.find(({ key }) => key === device.key) }))
  const addable = rows.filter(({ device, change }) => change && isAddable(device, change))
  return html`${
    rows.length > 0 &&
    html`<form method="post" action="/discover/preview">${csrfField(model.csrf)}
<h2>What answered</h2>
<table class="fleet found"><thead><tr><th scope="col">Choose</th><th scope="col">Device</th><th scope="col">Place</th><th scope="col">How it went</th><th scope="col">In the list</th><th scope="col">Points</th></tr></thead>
<tbody>${rows.map(({ device, change }, i) => deviceRow(device, change, i))}</tbody></table>
${
  addable.length > 0
    ? html`<div class="filter"><label>Read every <span class="muted">seconds</span><input name="poll_secs" value="${poll_secs}" inputmode="numeric" required></label><button class="primary">Preview what would be added</button></div>`
    : html`<p>There is nothing to add.</p>`
}
</form>`
  }
${silent.length > 0 && html`<section class="card"><h2>No answer</h2><p>Called, and nothing was heard:</p><ul>${silent.map(one => html`<li class="address">${stateIcon('down', formatAddress(one))}</li>`)}</ul><p>The device may be off, listen on another UDP port, or be behind a router or firewall that keeps the call.</p></section>`}
${missing.length > 0 && html`<section class="card"><h2>Missing</h2><p>In the list, called, and not heard:</p><ul>${missing.map(missingLine)}</ul></section>`}
${discovery.ignored.length > 0 && html`<section class="card"><h2>Answers that were not taken</h2><ul>${discovery.ignored.map(({ host, port, device_instance, reason, count }) => html`<li>${device_instance === null ? say`An I-Am` : say`Device ${device_instance}`} from ${formatAddress({ host, port })}, ${sayCountOf(count, 'time')}: ${reason}</li>`)}</ul></section>`}
${why && whyBody(why, discovery)}`
}

/** Changes that are preselected. Another instance at a known address may be another device, so a person decides. */
const CHOSEN: readonly DeviceChange['change'][] = ['new', 'moved']

const isAddable = ({ objects }: DeviceResult, { change, new_objects }: DeviceChange): boolean =>
  objects.length > 0 && change !== 'id_conflict' && (change !== 'same' || new_objects > 0)

function deviceRow(device: DeviceResult, change: DeviceChange | undefined, row: number): Html {
  const { key, device_instance, name, vendor, model, vendor_id, outcome, reason, objects, others } = device
  const label = `${name ?? say`Device`} ${device_instance}`
  const rest = Object.entries(others).filter(([type]) => type !== 'device')
  return html`<tr>
<td data-label="Choose"><div>${change && isAddable(device, change) ? html`<input type="checkbox" class="pick" name="device-${row}" value="${key}" aria-label="${label}"${CHOSEN.includes(change.change) && html` checked`}>` : html`<span class="muted">–</span>`}</div></td>
<td data-label="Device"><div><strong>${name ?? say`without a name`}</strong> <code>${device_instance}</code><span class="muted">${vendor ?? say`vendor ${vendor_id}`}${model !== null && html`, ${model}`}</span></div></td>
<td data-label="Place" class="address"><div>${formatAddress(device)}</div></td>
<td data-label="How it went"><div>${stateIcon(...OUTCOME_MARKS[outcome])}${reason !== null && html`<span class="muted">${reason}</span>`}</div></td>
<td data-label="In the list"><div>${change && changeWords(change)}</div></td>
<td data-label="Points"><div>${sayCount(objects.length)}${rest.length > 0 && html`<span class="muted">and ${rest.map(([type, n], i) => html`${i > 0 && ', '}${n} ${type}`)}</span>`}</div></td>
</tr>`
}

const OUTCOME_MARKS: Record<DeviceOutcome, [State, string]> = words(
  {
    found: ['ok', 'found'],
    partial: ['stale', 'partial'],
    refused: ['fault', 'refused'],
    timeout: ['down', 'timeout'],
    waiting: ['unknown', 'waiting'],
    reading: ['unknown', 'reading'],
  },
  '1',
)

function changeWords({ change, device_id, before, others, new_objects, missing_points }: DeviceChange): Html {
  const was = before && html` <code>${device_id}</code>`
  const points = html`${new_objects > 0 && change !== 'new' && html`<span class="muted">${sayCountOf(new_objects, 'object')} not read yet</span>`}${missing_points.length > 0 && html`<span class="muted">${sayCountOf(missing_points.length, 'point')} of the list not there: ${missing_points.slice(0, 3).join(', ')}${missing_points.length > 3 && '…'}</span>`}`
  switch (change) {
    case 'new':
      return html`new`
    case 'same':
      return html`as in the list:${was}${points}`
    case 'moved':
      return html`<strong>moved</strong>:${was} was at ${before && formatAddress(before)}${points}`
    case 'id_changed':
      return html`<strong>other id</strong>:${was} was device ${before?.device_instance} at this place${points}`
    case 'id_conflict':
      return html`<strong>id conflict</strong>: also at ${others.map(formatAddress).join(', ')}`
    case 'missing':
      return html`missing`
  }
}

const missingLine = ({ device_id, before }: DeviceChange): Html =>
  html`<li><code>${device_id}</code>, device ${before?.device_instance} at ${before && formatAddress(before)}</li>`
