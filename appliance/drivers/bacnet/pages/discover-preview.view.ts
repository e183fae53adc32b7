/** The preview of additions: the points as they will be in the list, and the traffic of polling them. */
import { objectName, placeName } from '#shared/core/bacnet/object-name.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { FILTER_MAX } from '../core/discovery/point-filter.ts'
import { BACNET_PORT } from '../core/discovery/discovery.ts'
import { formatAddress } from '../core/address.ts'
import { TRUNK_BAUD, type Traffic, type TrunkTraffic } from '../core/discovery/traffic.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import type { Addition, AdditionChoice } from '../discovery/additions.ts'
import type { Preview } from '../discovery/discovery-service.ts'
import { say, sayCount, sayCountOf, sayNumber, words } from '#shared/node/http/language.ts'

/** Points of one device that the page lists; the API has them all. */
const POINTS_SHOWN = 200
/** A device with more points shows them when asked. */
const POINTS_OPEN = 10
/** Notes of one device that the page lists. */
const NOTES_SHOWN = 20
/** A trunk that is busier than this leaves too little for what the building itself does. */
const BUSY_SHARE = 0.3

type PreviewModel = { preview: Preview; choice: AdditionChoice; csrf: string }

export const previewBody = ({
  preview,
  choice,
  csrf,
}: PreviewModel): Html => html`<p class="crumbs"><a href="/discover">Discover</a></p>
<h1>Add ${sayCountOf(preview.devices, 'device')} with ${sayCountOf(preview.points, 'new point')}?</h1>
<p class="lead">New points are read every ${choice.poll_secs} s. Nothing has been added yet.</p>
<form method="post" action="/discover/preview" class="filter">${csrfField(csrf)}${hiddenFields(choice, choice.keys)}
<label>Only points with one of these words <span class="muted">in object, name or unit; a minus before a word leaves it out</span><input name="only" value="${choice.only}" maxlength="${FILTER_MAX}" placeholder="${say`temp AI-4 -spare`}" autocapitalize="none"></label><button>Show these</button>
</form>
${preview.points === 0 && choice.only.trim() !== '' && html`<p class="notice">No new point has one of these words.</p>`}
<form method="post" action="/discover/add" class="card">${csrfField(csrf)}
<h2>Traffic</h2>${trafficBody(preview.before, preview.after)}
${hiddenFields(
  choice,
  preview.additions.map(({ key }) => key),
)}<input type="hidden" name="only" value="${choice.only}">
<div class="filter"><button class="primary"${preview.devices === 0 && html` disabled`}>Add ${sayCountOf(preview.devices, 'device')}</button> <a class="clear" href="/discover">Back without adding</a></div>
</form>
${preview.additions.map(deviceBody)}`

const hiddenFields = ({ poll_secs }: AdditionChoice, keys: readonly string[]): Html =>
  html`<input type="hidden" name="devices" value="${keys.join(' ')}"><input type="hidden" name="poll_secs" value="${poll_secs}">`

function trafficBody(before: Traffic, after: Traffic): Html {
  const trunks = after.trunks.filter(({ share }) => share !== null)
  return html`<dl class="values">
<div><dt>Requests a minute</dt><dd>${perMinute(before.requests_per_minute)} now, ${perMinute(after.requests_per_minute)} then</dd></div>
<div><dt>Bytes a second</dt><dd>${sayCount(Math.round(before.bytes_per_minute / 60))} now, ${sayCount(Math.round(after.bytes_per_minute / 60))} then</dd></div>
${trunks.map(trunk => trunkLine(trunk, before))}
</dl>
${trunks.length > 0 && html`<p class="muted">The share is estimated for ${sayCount(TRUNK_BAUD)} bit/s, because the real rate of a trunk is unknown.</p>`}`
}

function trunkLine({ trunk, network, devices, share }: TrunkTraffic, before: Traffic): Html {
  const then = share ?? 0
  const now = before.trunks.find(one => one.trunk === trunk)?.share ?? 0
  return html`<div><dt>Trunk ${network} behind ${trunk.split('/')[0]}, ${sayCountOf(devices, 'device')}</dt><dd>${percent(now)} of its time now, ${then > BUSY_SHARE ? html`<strong>${percent(then)} then: busy</strong>` : html`${percent(then)} then`}</dd></div>`
}

const perMinute = (n: number): string => (n < 10 ? sayNumber(n, 1) : sayCount(Math.round(n)))
const percent = (share: number): string => `${sayNumber(share * 100, 1)} %`

const VERBS: Record<Addition['change'], string> = words({
  new: 'New',
  same: 'More points of a device in the list',
  moved: 'Its place in the list is changed',
  id_changed: 'Its instance in the list is changed',
  id_conflict: 'Conflict',
  missing: 'Missing',
})

function deviceBody({ change, entry, new_points, guessed_roles, notes }: Addition): Html {
  const fresh = new Set(new_points)
  const points = entry.points.filter(({ point_id }) => fresh.has(point_id))
  const shown = points.slice(0, POINTS_SHOWN)
  const { bacnet } = entry
  return html`<section class="card"><h2>${entry.name} <code>${entry.device_id}</code></h2>
<p>${VERBS[change]}: ${bacnet && placeName(bacnet)} at ${bacnet && formatAddress({ ...bacnet, port: bacnet.port ?? BACNET_PORT })}, ${sayCountOf(points.length, 'new point')}.</p>
${notes.length > 0 && html`<details><summary>${sayCountOf(notes.length, 'note')} on units</summary><ul>${notes.slice(0, NOTES_SHOWN).map(note => html`<li>${note}</li>`)}</ul>${notes.length > NOTES_SHOWN && html`<p>and ${notes.length - NOTES_SHOWN} more</p>`}</details>`}
<details${points.length <= POINTS_OPEN && html` open`}><summary>${sayCountOf(points.length, 'point')}</summary><table class="fleet"><thead><tr><th scope="col">Point</th><th scope="col">Address</th><th scope="col">Name</th><th scope="col">Value</th><th scope="col">Role, a guess</th></tr></thead><tbody>${shown.map(
    ({ point_id, address, name, unit, kind, scale, offset, states }) => html`<tr>
<td data-label="Point" class="address"><div><code>${point_id}</code></div></td>
<td data-label="Address"><div><code>${objectName(address)}</code></div></td>
<td data-label="Name"><div>${name}</div></td>
<td data-label="Value"><div>${kind}${kind === 'number' && html`, ${unit}`}${scale !== undefined && html` <span class="muted">× ${scale}</span>`}${offset !== undefined && html` <span class="muted">+ ${offset}</span>`}${states && html`<span class="muted">${states.filter(Boolean).join(', ')}</span>`}</div></td>
<td data-label="Role, a guess"><div>${guessed_roles[point_id] ?? html`<span class="muted">none</span>`}</div></td>
</tr>`,
  )}</tbody></table>
${points.length > shown.length && html`<p>and ${sayCountOf(points.length - shown.length, 'point')} more, which <code>POST /api/bacnet/discover/preview</code> lists.</p>`}</details>
</section>`
}
