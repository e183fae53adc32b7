/** Overrides: who holds what since when, the oldest first. The same on the box and, as a projection, on the hub. */
import { targetName } from '#shared/core/bacnet/object-name.ts'
import { Type } from '@sinclair/typebox'
import { loginRole } from './words.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { PriorityState } from '#shared/core/ports.ts'
import {
  AGES,
  groupOverrides,
  type OutOfServiceRow,
  type OverrideGroup,
  type OverrideQuery,
  type OverrideRow,
  type ReleasedRow,
} from '#shared/core/priority/override-rows.ts'
import type { PriorityTarget, SlotValue } from '#shared/core/priority/priority-record.ts'
import type { VisitScheduleState } from '#shared/core/priority/visit.ts'
import { commandOf } from '#shared/core/priority/command-state.ts'
import { DAY, formatDuration, SECOND } from '#shared/core/time.ts'
import { csrfField, type User } from './frame.ts'
import { overrideIcon } from './icons.ts'
import { type Here, moment, momentAge, momentNow, momentOr, nextMoment } from './moment.ts'
import { say, sayCount, sayCountOf, words } from '#shared/node/http/language.ts'
import { oneOf } from '#shared/node/http/route.ts'

/** `OverrideQuery` in an address. */
export const OVERRIDE_QUERY = { older: Type.Optional(oneOf(AGES)), group: Type.Optional(oneOf(['equipment'])) }

export type ScannerCard = {
  scanner: VisitScheduleState
  journal: Pick<PriorityState, 'journal' | 'reason' | 'lost'> & { records: number }
  /** Place of the history: `this box`, `the edge`. */
  place: string
  /** Address to which the button posts. */
  action: string
  user: User | undefined
  csrf: string
}
type OverridesModel = {
  here: Here
  /** Path of this page, and of a point's own. */
  path: string
  /** Further parameters of every link to this page, such as the site of the edge on a hub. */
  query?: Record<string, string | undefined>
  /** The same of the link to the CSV. */
  csvQuery?: Record<string, string>
  hrefOf: (target: PriorityTarget) => string
  card: ScannerCard
  equipmentHrefOf: (equipment_id: string) => string
  /** Of any age, the oldest first. */
  overrides: OverrideRow[]
  /** What is shown of them. */
  shown: OverrideQuery
  outOfService: OutOfServiceRow[]
  /** Of the last week, the newest first. */
  released: ReleasedRow[]
  /** Points with at least one visit. */
  seen: number
  /** A further note on the source. */
  note?: Html
  /** Text for an override that began before the first visit. */
  beforeAll: string
}

export function overridesBody(model: OverridesModel): Html {
  const groups = groupOverrides(model.overrides, model.shown, model.here.now)
  return html`<h1>Overrides</h1>
<p class="lead">${leadWords(model, groups)}</p>
${model.note}
${lossNotice(model.card)}
${otherNotice(model.card.scanner, model.here)}
${model.card.journal.journal === 'disabled' && html`<p class="notice" role="alert"><strong>The priority history is not recorded any more.</strong> ${model.card.journal.reason ?? ''}</p>`}
${model.overrides.length > 0 && choices(model)}
${groups.length > 0 ? table(groups, model) : html`<section class="card quiet-card"><p>${emptyWords(model)}</p></section>`}
${model.released.length > 0 && released(model)}
${model.outOfService.length > 0 && outOfService(model)}
<p class="as-of">As of ${momentNow(model.here)} <a href="${model.path}${queryOf(model)}">Refresh</a> <a href="${model.path}.csv${queryText({ ...model.csvQuery, ...model.shown })}">Overrides as CSV</a></p>
<div class="columns">
${scannerCard(model.card, model.here)}
${releaseCard()}
</div>`
}

const lossNotice = ({ journal: { lost } }: ScannerCard): Html | false =>
  lost !== undefined &&
  html`<p class="notice" role="alert"><strong>The end of the priority history was cut off.</strong> ${sayCountOf(lost, 'record')} that had been kept ${lost === 1 ? say`is` : say`are`} missing; the history goes on after them.</p>`

const otherNotice = ({ other_devices: others = [] }: VisitScheduleState, here: Here): Html | false =>
  others.length > 0 &&
  html`<div class="notice" role="alert"><p><strong>Another device answers at the address of ${sayCountOf(others.length, 'device')}.</strong> Nothing that it says is kept.</p>
<ul>${others.map(({ device_id, device_instance, since, reason }) => html`<li><code>${device_id}</code> (device ${device_instance}), seen since ${moment(since, here)}: ${reason}</li>`)}</ul></div>`

function leadWords({ overrides, seen }: OverridesModel, groups: OverrideGroup[]): string {
  const total = overrides.length
  const shown = groups.reduce((sum, { rows }) => sum + rows.length, 0)
  return total === 0
    ? say`No override at the newest visit of ${sayCountOf(seen, 'point')}.`
    : say`${sayCountOf(total, 'override')} at the newest visit of ${sayCountOf(seen, 'point')}${shown < total ? say`, ${sayCount(shown)} of them shown` : ''}.`
}

function emptyWords({ overrides, seen, shown: { older }, card: { scanner, journal } }: OverridesModel): string {
  if (overrides.length > 0) return say`No override is older than ${older === '1' ? say`a day` : say`${older} days`}.`
  if (seen > 0) return say`Nobody holds a point.`
  if (journal.journal === 'disabled') return say`What was seen cannot be read.`
  return scanner.enabled ? say`No point has been visited yet.` : say`No point has been visited: the priority scanner is off.`
}

/** @returns what is given, with its question mark */
export function queryText(given: Record<string, string | undefined>): string {
  const entries = Object.entries(given).flatMap(([key, value]): [string, string][] => (value === undefined ? [] : [[key, value]]))
  return entries.length > 0 ? `?${new URLSearchParams(entries)}` : ''
}

/** The state of this page with `other` choices. */
const queryOf = ({ query, shown }: OverridesModel, other: OverrideQuery = {}): string =>
  queryText({ ...query, ...shown, ...other })

function choices(model: OverridesModel): Html {
  const { path, shown } = model
  const choice = (other: OverrideQuery, words: string) =>
    html`<li><a href="${path}${queryOf(model, other)}"${Object.entries(other).every(([key, value]) => shown[key as keyof OverrideQuery] === value) && html` aria-current="page"`}>${words}</a></li>`
  return html`<nav class="states" aria-label="Overrides by age"><ul class="choices">
${choice({ older: undefined }, say`All`)}${AGES.map(older => choice({ older }, older === '1' ? say`Older than a day` : say`Older than ${older} days`))}
</ul></nav>
<nav class="states" aria-label="Groups of overrides"><ul class="choices">${choice({ group: undefined }, say`One list`)}${choice({ group: 'equipment' }, say`By equipment`)}</ul></nav>`
}

const table = (groups: OverrideGroup[], model: OverridesModel): Html => html`<table class="fleet">
<caption class="hidden">Overrides, the oldest first</caption>
<thead><tr><th scope="col">Point</th><th scope="col">Slot</th><th scope="col">Value</th><th scope="col">First seen</th><th scope="col">Flips in 30 days</th><th scope="col">Device and object</th></tr></thead>
${groups.map(
  group =>
    html`<tbody>${model.shown.group !== undefined && groupTitle(group, model)}${group.rows.map(row => overrideRow(row, model))}</tbody>`,
)}
</table>`

const groupTitle = ({ equipment, rows }: OverrideGroup, { equipmentHrefOf }: OverridesModel): Html =>
  html`<tr class="group"><th scope="rowgroup" colspan="6"><h2>${equipment ? html`<a href="${equipmentHrefOf(equipment.equipment_id)}">${equipment.name}</a>` : say`Of no equipment`} <span class="count">${sayCount(rows.length)}</span></h2></th></tr>`

function overrideRow({ command, point, level, flips }: OverrideRow, model: OverridesModel): Html {
  const { here, hrefOf, shown } = model
  const { latest } = command
  return html`<tr>
<td data-label="Point" class="what"><div><a href="${hrefOf(latest.target)}">${point.name}</a>${shown.group === undefined && html`<span class="muted">${point.equipment ?? say`of no equipment`}</span>`}</div></td>
<td data-label="Slot"><div>${overrideIcon(`P${level.number}`)}<span class="muted">${say(level.name)}</span></div></td>
<td data-label="Value"><div>${valueOr(commandOf(latest), point.valueWords)}<span class="muted">default ${valueOr(latest.relinquish_default, point.valueWords)}</span></div></td>
<td data-label="First seen"><div>${momentAge(command.held_since, here)}<span class="muted">${beforeWords(command, model)}</span></div></td>
<td data-label="Flips in 30 days"><div>${flips === 0 ? say`none` : sayCount(flips)}<span class="muted">in ${sayCountOf(command.visits, 'visit')} since</span></div></td>
<td data-label="Device"><div>${point.device}<span class="muted"><code>${targetName(latest.target)}</code></span></div></td>
</tr>`
}

const beforeWords = ({ otherwise_at }: OverrideRow['command'], { here, beforeAll }: OverridesModel): Html | string =>
  otherwise_at === null ? beforeAll : html`not so at ${moment(otherwise_at, here)}`

/** How an object is written in the list of field devices. */
export const objectWords = ({ object_type, object_instance }: PriorityTarget): string => `${object_type},${object_instance}`

export const valueOr = (value: SlotValue | undefined, words: (value: SlotValue) => string): string =>
  value === undefined ? say`not read` : words(value)

/** What somebody who sweeps overrides wants to see gone. A release is known by the first visit that no longer saw the override. */
const released = ({ released: rows, here, hrefOf }: OverridesModel): Html => html`<h2>Released in the last 7 days</h2>
<table class="fleet">
<thead><tr><th scope="col">Point</th><th scope="col">Slot</th><th scope="col">Held from</th><th scope="col">Gone at</th><th scope="col">Device and object</th></tr></thead>
<tbody>${rows.map(
  ({ command: { latest, otherwise_at }, point, level, since, seen_at }) => html`<tr>
<td data-label="Point" class="what"><div><a href="${hrefOf(latest.target)}">${point.name}</a><span class="muted">${point.equipment ?? say`of no equipment`}</span></div></td>
<td data-label="Slot"><div>${overrideIcon(`P${level.number}`)}<span class="muted">${say(level.name)}</span></div></td>
<td data-label="Held from"><div>${moment(since, here)}</div></td>
<td data-label="Gone at"><div>${momentAge(seen_at, here)}<span class="muted">${otherwise_at !== null && html`still held at ${moment(otherwise_at, here)}`}</span></div></td>
<td data-label="Device"><div>${point.device}<span class="muted"><code>${targetName(latest.target)}</code></span></div></td>
</tr>`,
)}</tbody>
</table>`

const outOfService = ({ outOfService: rows, here, hrefOf }: OverridesModel): Html => html`<h2>Out of service</h2>
<p>Their value is set by hand or stands still, apart from the input or output behind it.</p>
<table class="fleet">
<thead><tr><th scope="col">Point</th><th scope="col">Value</th><th scope="col">Last visit</th><th scope="col">Device and object</th></tr></thead>
<tbody>${rows.map(
  ({ command: { latest }, point }) => html`<tr>
<td data-label="Point" class="what"><div><a href="${hrefOf(latest.target)}">${point.name}</a><span class="muted">${point.equipment ?? say`of no equipment`}</span></div></td>
<td data-label="Value"><div>${valueOr(latest.present_value, point.valueWords)}</div></td>
<td data-label="Last visit"><div>${momentAge(latest.observed_at, here)}</div></td>
<td data-label="Device"><div>${point.device}<span class="muted"><code>${targetName(latest.target)}</code></span></div></td>
</tr>`,
)}</tbody>
</table>`

const SCANNER_WORDS: Record<VisitScheduleState['state'], string> = words({
  idle: 'On, waiting for the next visit',
  visiting: 'Visiting a device now',
  disabled: 'Off',
})

function scannerCard({ scanner, journal, place, action, user, csrf }: ScannerCard, here: Here): Html {
  const why = whyNot({ scanner, journal, user })
  return html`<section class="card" id="scanner">
<h2>Visits to the devices</h2>
<dl class="values">
<div><dt>Scanner</dt><dd>${SCANNER_WORDS[scanner.state]}</dd></div>
${scanner.reason !== undefined && html`<div><dt>Reason</dt><dd>${scanner.reason}</dd></div>`}
<div><dt>Last visit ended</dt><dd>${momentOr(scanner.last_completed_at, here, say`none yet`)}</dd></div>
<div><dt>Last device</dt><dd>${lastDevice(scanner)}</dd></div>
<div><dt>Next visit</dt><dd>${nextMoment(scanner.next_due_at, here, say`not planned`)}</dd></div>
<div><dt>Between visits</dt><dd>${formatDuration(scanner.interval_secs * 1000)}</dd></div>
${roundRows(scanner)}
<div><dt>Records kept</dt><dd>${sayCount(journal.records)}, on ${place} only</dd></div>
</dl>
${scanner.last_error !== null && html`<p class="error"><strong>The last visit failed:</strong> ${scanner.last_error}</p>`}
<form method="post" action="${action}">${csrfField(csrf)}${
    why === undefined
      ? html`<button class="primary">Visit the next device now</button>`
      : html`<button class="primary" disabled aria-describedby="visit-why">Visit the next device now</button>
<p class="why" id="visit-why">${why}</p>`
  }</form>
</section>`
}

const lastDevice = ({ last_device_id, last_device_instance }: VisitScheduleState): string =>
  last_device_instance === null
    ? say`none yet`
    : last_device_id
      ? say`${last_device_id} (device ${last_device_instance})`
      : String(last_device_instance)

/** How long it takes until every point has been looked at once, at the settings of today. */
function roundRows({ round_outputs_secs: outputs, round_secs: all }: VisitScheduleState): Html | false {
  if (all === undefined || all === 0) return false
  const rows = html`${outputs !== undefined && outputs > 0 && html`<div><dt>All outputs once in</dt><dd>${formatDuration(outputs * SECOND)}</dd></div>`}
<div><dt>All points once in</dt><dd>${formatDuration(all * SECOND)}</dd></div>`
  if (all * SECOND <= DAY) return rows
  return html`${rows}
<div><dt>Too slow</dt><dd class="error">A full round takes more than a day, so short overrides may go unseen. Visit more often (SERVICE_PRIORITY_SCAN_INTERVAL_SECS), ask for more points in a visit (SERVICE_PRIORITY_SCAN_MAX_POINTS_PER_DEVICE), or set <code>priority_history: false</code> on points that do not matter.</dd></div>`
}

/** @returns why nobody, or not this person, may ask for a visit now */
export function whyNot({ scanner, journal, user }: Pick<ScannerCard, 'scanner' | 'journal' | 'user'>): string | undefined {
  if (!user?.mayOperate) return say`Needs the operator role; you are signed in as ${user ? loginRole(user.role) : say`nobody`}.`
  if (journal.journal === 'disabled') return say`History is not recorded: ${journal.reason ?? say`no reason was given`}.`
  if (!scanner.enabled || scanner.state === 'disabled')
    return scanner.reason ?? say`The scanner is off: SERVICE_PRIORITY_SCAN_ENABLED=1 switches it on.`
  return scanner.state === 'visiting' ? say`A visit is already in progress.` : undefined
}

const releaseCard = (): Html => html`<section class="card">
<h2>Releasing an override</h2>
<p><strong>Plenum only reads: it offers neither release nor write.</strong> Release the slot at the operator workstation of the building management system; the next visit shows it.</p>
<p class="muted">A visit says what was there when somebody looked. What happened between two visits is not known.</p>
</section>`
