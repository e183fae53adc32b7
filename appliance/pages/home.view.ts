/** Home: a status board. A sentence, the faults, then a line for each thing that can fail, with the last day as a small line. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { RunCounts } from '#shared/core/ports.ts'
import { costText, type Together } from '#shared/central/ui/cost-words.ts'
import type { UnitSystem } from '#shared/central/ui/measure.ts'
import { countLine } from '#shared/central/ui/sparkline.ts'
import { csrfField, operatorButton, type User, versionText } from '#shared/central/ui/frame.ts'
import { DEFAULT_QUERY, type FaultRow, faultsHref } from '#shared/central/pages/faults/fault-list.ts'
import type { OpenCounts } from '#shared/central/pages/faults/open-counts.ts'
import { PRIORITIES } from '#shared/core/findings/finding.ts'
import { faultStateSign, faultStateWords, priorityIcon, type State, STATES, stateIcon } from '#shared/central/ui/icons.ts'
import {
  formatAge,
  formatLeft,
  type Here,
  moment,
  momentAge,
  momentNow,
  momentOr,
  nextMoment,
} from '#shared/central/ui/moment.ts'
import { liveRun, type ShownRun } from '#shared/central/ui/run-panel.ts'
import { findingHref } from '#shared/central/ui/links.ts'
import { backlogCourse } from '#shared/core/telemetry/backlog.ts'
import { courseWords } from '#shared/central/system/backlog-words.ts'
import { bytesText, countWords, titleOf, totalOf } from '#shared/central/ui/words.ts'
import { DAY, formatDuration, MINUTE, SECOND } from '#shared/core/time.ts'
import type { BoardCounts, BoardSample } from '../services/board-history.ts'
import { isSilent } from './board-counts.ts'
import { firstStepsNotice } from './first-steps.view.ts'
import { healthSentence } from './home-health.ts'
import type { PublisherState } from '../services/publisher.ts'
import type { MachineState } from '#shared/node/machine.ts'
import { type OverridesTile, overridesWords } from './overrides-tile.ts'
import { say, sayCountOf, sayNumber, words } from '#shared/node/http/language.ts'

/** Tiles refresh themselves this often; the page turns grey when they stop. */
const REFRESH_SECS = 10
/** Devices that the tile lists; the rest are counted. */
const DEVICES_MAX = 8
const CERTIFICATE_SOON = 60 * DAY
/** The hub stores readings of a clock that is this far ahead apart from history (TOPICS.md). */
const CLOCK_OFF_MS = 5 * MINUTE
const DISK_TIGHT = 0.1
/** A run takes its time; one that is later than this does not come. */
const OVERDUE_MS = 30 * MINUTE

type DeviceLine = {
  device_id: string
  name: string
  state: State
  since: number | null
  last_ok_at: number | null
  last_error: string | null
}
export type PointCounts = Record<State, number>
export type RunTile = {
  running: boolean
  /** Runs that wait or are under way, in the order of their turns. */
  live: ShownRun[]
  nameOf: (building_id: string) => string
  /** Why the newest run failed; absent when it did not. */
  last_error: string | null
  last: { finished_at: number; seconds: number; counts: RunCounts; failed: number } | null
  next_at: number
}
export type HomeModel = {
  identity: { name: string; edge_id: string; site_id: string; building: string }
  version: string
  /** Steps of the first set-up that are left. */
  stepsLeft: number
  here: Here
  /** Null while polling is off: a box that only holds imported packages. */
  poll: { running: boolean; points: PointCounts; devices: DeviceLine[]; last_read_at: number | null } | null
  /** Since when readings cannot be stored; null while they are. */
  unstored_since: number | null
  open: OpenCounts
  /** The worst open faults, each with the name of its equipment. */
  worst: (Pick<FaultRow, 'finding' | 'note' | 'priority' | 'cost'> & { equipment: string })[]
  /** What the open faults wasted in the last day, by building; empty where no energy is known. */
  waste: Together[]
  unit_system: UnitSystem
  /** What was counted over the last day, the oldest first. */
  history: readonly BoardSample[]
  overrides: OverridesTile
  run: RunTile
  hub: PublisherState
  box: MachineState
  /** False while it shows a time before the running version was made. */
  isClockSet: boolean
  user: User | undefined
  csrf: string
}

export const homeBody = (model: HomeModel): Html => html`<h1>${model.identity.name}</h1>
${firstStepsNotice(model.stepsLeft)}
${homeTiles(model)}
<p class="muted">Box <code>${model.identity.edge_id}</code> of site <code>${model.identity.site_id}</code>, ${model.identity.building}. Version ${versionText(model.version)}</p>`

/** The part that htmx asks for again. */
export const homeTiles = (
  model: HomeModel,
): Html => html`<div id="tiles" class="tiles" hx-get="/home/tiles" hx-trigger="every ${REFRESH_SECS}s, refresh" hx-target="#tiles" hx-swap="outerMorph" data-refresh-secs="${REFRESH_SECS}">
<p class="lead">${health(model)}</p>
${faultsTile(model)}
${devicesTile(model)}
${tile('overrides', say`Overrides`, model.overrides.damage !== undefined, overridesWords(model.overrides, model.here), lineOf(model, 'overrides'))}
${pointsTile(model)}
${hubTile(model)}
${runTile(model)}
${boxTile(model)}
<p class="as-of">As of ${momentNow(model.here)} <span class="feed" role="status"></span> <a href="/">Refresh</a></p>
</div>`

const health = ({ unstored_since, open, waste, poll, overrides, run, here }: HomeModel): Html =>
  healthSentence({
    unstored_since,
    open,
    waste,
    silent: (poll?.devices ?? []).filter(({ state }) => isSilent(state)).length,
    aged: overrides.aged ?? 0,
    checked_at: run.last?.finished_at ?? null,
    now: here.now,
  })

/** @param line of the last day, where there is one */
const tile = (id: string, title: string, alarm: boolean, body: Html, line?: Html | false): Html =>
  html`<section class="card tile${alarm && ' alarm'}" id="tile-${id}" aria-labelledby="tile-${id}-title"><h2 id="tile-${id}-title">${title}</h2><div class="tile-body">${body}</div>${line}</section>`

const lineOf = ({ history, here }: HomeModel, what: keyof BoardCounts): Html | false =>
  countLine(
    history.map(sample => ({ at: sample.at, count: sample[what] })),
    { from: here.now - DAY, to: here.now },
  )

function faultsTile(model: HomeModel): Html {
  const { open, worst, run, here } = model
  const total = open[1] + open[2] + open[3]
  const asOf = run.last
    ? html`<p class="age">As of the run at ${momentAge(run.last.finished_at, here)}</p>`
    : html`<p class="age">No run has finished yet</p>`
  const body = total
    ? html`<p class="figure"><a href="/faults">${total} open</a></p><ul class="breakdown">${PRIORITIES.map(
        priority =>
          html`<li class="${open[priority] > 0 && `p${priority}`}"><a href="${faultsHref({ ...DEFAULT_QUERY, priority, state: 'active' })}"><span class="n">${open[priority]}</span> ${priorityIcon(priority)}</a></li>`,
      )}</ul>`
    : html`<p class="figure"><a href="/faults">${run.last ? say`All quiet` : say`Not looked yet`}</a></p>${run.last && html`<p>No equipment fault is open.</p>`}`
  const data =
    open.data > 0 &&
    html`<p><a href="${faultsHref({ ...DEFAULT_QUERY, lane: 'data' })}">${open.data} open about sensors and data</a></p>`
  const listed = worst.length > 0 && html`<ul class="plain worst-faults">${worst.map(one => worstFault(one, model))}</ul>`
  return tile('faults', say`Faults`, total > 0, html`${listed}${body}${data}${asOf}`, lineOf(model, 'faults'))
}

const signsOf = ({ finding, note, priority }: Pick<FaultRow, 'finding' | 'note' | 'priority'>): Html =>
  html`<span class="signs">${[priorityIcon(priority), faultStateSign(finding, note), html`<span class="hidden">${faultStateWords(finding, note)}</span>`]}</span>`

const worstFault = (
  { finding, note, priority, equipment, cost }: HomeModel['worst'][number],
  { here, unit_system }: HomeModel,
): Html =>
  html`<li class="p${priority}">${signsOf({ finding, note, priority })} <a href="${findingHref(finding.finding_id)}">${titleOf(finding)}</a> <span class="muted">${equipment}, since ${momentAge(finding.from, here)}${cost && `, ${costText(cost, unit_system)}`}</span></li>`

function pointsTile({ poll, here }: HomeModel): Html {
  if (!poll) return tile('points', say`Points`, false, html`<p class="figure">Not polling</p><p>No device is on the list.</p>`)
  const { points, last_read_at } = poll
  const total = Object.values(points).reduce((sum, n) => sum + n, 0)
  const bad = total - points.ok - points.disabled
  const states = STATES.filter(state => state === 'ok' || points[state] > 0)
  return tile(
    'points',
    say`Points`,
    bad > 0 || !poll.running,
    html`<p class="figure"><a href="/devices">${bad ? say`${bad} of ${total} not ok` : say`${points.ok} ok`}</a></p>
<ul class="breakdown">${states.map(state => html`<li><span class="n">${points[state]}</span> ${stateIcon(state)}</li>`)}</ul>
<p class="age">${poll.running ? say`Last answer` : html`<strong>Polling has stopped.</strong> Last answer`} ${momentOr(last_read_at, here, say`never`)}</p>`,
  )
}

/** Devices that answer are only counted; the page of devices lists them. */
function devicesTile(model: HomeModel): Html {
  const { poll, here } = model
  const devices = poll?.devices ?? []
  const silent = devices
    .filter(({ state }) => isSilent(state))
    .toSorted((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state))
  const listed = silent.slice(0, DEVICES_MAX)
  const figure = silent.length ? say`${silent.length} of ${devices.length} silent` : say`${devices.length} answering`
  return tile(
    'devices',
    say`Devices`,
    silent.length > 0,
    html`<p class="figure"><a href="/devices">${devices.length ? figure : say`None`}</a></p>
${listed.length > 0 && html`<ul class="devices">${listed.map(device => deviceLine(device, here))}</ul>`}
${silent.length > listed.length && html`<p>and ${silent.length - listed.length} more, none worse</p>`}`,
    lineOf(model, 'silent'),
  )
}

const deviceLine = ({ device_id, name, state, since, last_ok_at, last_error }: DeviceLine, here: Here): Html => html`<li>
<span class="device">${name} <code>${device_id}</code></span> ${stateIcon(state)}
<span class="age">since ${momentOr(since, here, say`start`)}; last answer ${momentOr(last_ok_at, here, say`never`)}</span>
${last_error !== null && html`<span class="error">${last_error}</span>`}</li>`

function runTile({ run, here, user, csrf }: HomeModel): Html {
  const { last, last_error, running, live, nameOf, next_at } = run
  const overdue = here.now - next_at > OVERDUE_MS && !running
  return tile(
    'run',
    say`Last check for faults`,
    (last?.failed ?? 0) > 0 || last_error !== null || overdue,
    html`<p class="figure"><a href="/runs">${running ? say`Running now` : last ? formatAge(last.finished_at, here.now) : say`Not yet`}</a></p>
${
  last &&
  html`<p>${sayCountOf(totalOf(last.counts), 'check')}: ${countWords(last.counts)}${last.failed > 0 && html`, <strong>${last.failed} failed</strong>`}; took ${last.seconds < 60 ? `${sayNumber(last.seconds, 1)} s` : formatDuration(last.seconds * SECOND)}</p>`
}
${last_error !== null && html`<p class="error"><strong>The newest run failed:</strong> ${last_error}</p>`}
<p class="age">${last && html`Finished ${moment(last.finished_at, here)}. `}Next run ${nextMoment(next_at, here)}${overdue && html` (overdue)`}</p>
${
  live.length > 0
    ? live.map(one => liveRun(one, { nameOf, here, user, csrf }, '/'))
    : html`<form method="post" action="/home/run">${csrfField(csrf)}${operatorButton(user, 'run-why', say`Run now`)}</form>`
}`,
  )
}

const HUB_WORDS: Record<PublisherState['state'], string> = words({ off: 'Off', connecting: 'Not connected', up: 'Connected' })

function hubTile(model: HomeModel): Html {
  const { hub, here } = model
  const { state, reason, notices = [], note, backlog, oldest_at, drain_per_min, dropped, thinned, rejected, last_ack_at } = hub
  if (state === 'off')
    return tile('hub', say`Hub`, false, html`<p class="figure">Off</p><p>${reason ?? say`This box works alone.`}</p>`)
  const course = courseWords(backlogCourse(backlog, drain_per_min, here.now), here)
  return tile(
    'hub',
    say`Hub`,
    state !== 'up' || notices.length > 0 || dropped + thinned + rejected > 0,
    html`<p class="figure">${HUB_WORDS[state]}</p>
${notices.map(text => html`<p class="error"><strong>${text}.</strong></p>`)}
${reason !== undefined && html`<p class="error">${reason}</p>`}
${note !== undefined && html`<p>Since this start everything kept is sent again: ${note}</p>`}
<p>${backlog ? html`${sayCountOf(backlog, 'message')} to be sent${oldest_at !== null && html`; the oldest waits since ${momentAge(oldest_at, here)}`}` : say`Nothing waits to be sent`}</p>
${course !== undefined && html`<p>The backlog ${course}</p>`}
${thinned > 0 && html`<p><strong>${sayCountOf(thinned, 'message')} downsampled</strong> to one value per 15 min because the outbox was full</p>`}
${dropped > 0 && html`<p><strong>${sayCountOf(dropped, 'message')} dropped</strong> because the outbox was full</p>`}
${rejected > 0 && html`<p><strong>${sayCountOf(rejected, 'message')} refused</strong> by the hub and kept aside</p>`}
<p class="age">Last confirmed by the hub ${momentOr(last_ack_at, here, say`never`)}</p>`,
    lineOf(model, 'backlog'),
  )
}

function boxTile({ box, isClockSet, hub, here }: HomeModel): Html {
  const free = box.disk.free_bytes / box.disk.total_bytes
  const left = hub.cert_not_after === null ? null : hub.cert_not_after - here.now
  const tight = free < DISK_TIGHT
  const expiring = left !== null && left < CERTIFICATE_SOON
  return tile(
    'box',
    say`Box`,
    tight || expiring || !isClockSet || isClockOff(hub.clock_offset_ms),
    html`<dl class="values">
<div><dt>Disk free</dt><dd>${tight && html`<strong>Tight: </strong>`}${bytesText(box.disk.free_bytes)} of ${bytesText(box.disk.total_bytes)}</dd></div>
<div><dt>Clock</dt><dd>${momentNow(here)}, ${box.clock_synced ? say`set by the network` : say`not known whether by a time server`}${!isClockSet && html`, <strong>before this version was made: no rules run, and readings are kept apart</strong>`}${offsetWords(hub.clock_offset_ms)}</dd></div>
<div><dt>Certificate</dt><dd>${left === null ? say`none, no hub` : left > 0 ? html`${expiring && html`<strong>Ends soon: </strong>`}${formatLeft(left)}` : html`<strong>ended ${formatDuration(-left)} ago</strong>`}</dd></div>
<div><dt>Running since</dt><dd>${momentAge(box.started_at, here)}</dd></div>
</dl>`,
  )
}

const isClockOff = (offsetMs: number | null): boolean => offsetMs !== null && Math.abs(offsetMs) > CLOCK_OFF_MS

function offsetWords(offsetMs: number | null): Html | false {
  if (offsetMs === null || !isClockOff(offsetMs)) return false
  const off = formatDuration(Math.abs(offsetMs))
  return offsetMs > 0 ? html`, <strong>${off} ahead of the hub</strong>` : html`, <strong>${off} behind the hub</strong>`
}
