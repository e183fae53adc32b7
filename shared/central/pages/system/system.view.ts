/** The page of the process and its machine: health, clock, storage, certificate, network, and what can be done with them. */
import { nameTable } from '#shared/core/name-table.ts'
import { DAY } from '#shared/core/time.ts'
import type { HealthCheck } from '#shared/central/context.ts'
import type { DiskWear, MachineHardware } from '#shared/node/machine-hardware.ts'
import type { PublicCertificate } from '#shared/node/http/server-tls.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField, versionText } from '#shared/central/ui/frame.ts'
import { type State, stateIcon } from '#shared/central/ui/icons.ts'
import { formatLeft, type Here, moment, momentAge } from '#shared/central/ui/moment.ts'
import { fullDiskNotice, storageSection, type StorageModel } from './storage.view.ts'
import { bytesText } from '#shared/central/ui/words.ts'
import { message, say, sayNumber, words } from '#shared/node/http/language.ts'

type SystemModel = StorageModel & {
  version: string
  startedAt: number
  checks: Record<string, HealthCheck>
  /** Whether the clock follows a time server; null where that is unknown. */
  clockSynced: boolean | null
  /** Bytes of this process and of the machine. */
  memory: { used: number; total: number }
  /** Of the machine, °C; undefined where it has no sensor. */
  temperature: number | undefined
  hardware: MachineHardware
  certificate: PublicCertificate | undefined
  addresses: { name: string; address: string; mac: string }[]
  /** Whether the process is started again when it ends. */
  restarts: boolean
  isAdmin: boolean
  /** Sections of the product. */
  more: Html | false
  here: Here
  csrf: string
}

const CERTIFICATE_SOON = 60 * DAY

export const systemBody = (model: SystemModel): Html => html`<h1>System</h1>
<p class="lead">Version ${versionText(model.version)} runs since ${momentAge(model.startedAt, model.here)}.</p>
${fullDiskNotice(model)}
<div class="columns"><div>
${healthSection(model)}
${model.more}
</div><div>
<section class="card"><h2>Machine</h2><dl class="values">${machineFacts(model)}</dl></section>
${storageSection(model)}
${toolsSection(model)}
${programsSection()}
${model.isAdmin && model.restarts && restartSection(model)}
</div></div>`

const CHECK_NAMES = words(
  nameTable<string>({
    database: 'Database',
    workspace: 'Disk',
    history: 'History',
    clock: 'Clock',
    config: 'Settings of the rules',
    fdd: 'Runs of rules',
    result_files: 'Files of results',
    backup: 'Backups',
    alerts: 'Alerts',
    poll: 'Polling',
    hub: 'Uplink to the hub',
    priority_history: 'Priority history',
    edge_ids: 'Edge ids',
    hardware: 'Power supply and disks',
    update: 'Update on trial',
    ingest: 'Messages of edges',
    broker: 'Broker',
    certificates: 'Certificates of the hub',
    edge_claims: 'Buildings of edges',
    edge_bounds: 'Limits of edges',
    budget: 'Budget',
    cluster: 'Copy for a standby',
  }),
)
const MARKS: Record<HealthCheck['status'], [State, string]> = {
  ok: ['ok', message`well`],
  warn: ['stale', message`warning`],
  fail: ['fault', message`failed`],
}
const RANK: Record<HealthCheck['status'], number> = { fail: 0, warn: 1, ok: 2 }

function healthSection({ checks }: SystemModel): Html {
  const rows = Object.entries(checks).toSorted(([, a], [, b]) => RANK[a.status] - RANK[b.status])
  return html`<section class="card"><h2>Health</h2><dl class="values">${rows.map(([name, check]) => {
    const reason = [check.detail, check['reason'], check['note']].filter(part => typeof part === 'string').join('. ')
    return html`<div><dt>${CHECK_NAMES[name] ?? name}</dt><dd>${stateIcon(MARKS[check.status][0], say(MARKS[check.status][1]))}</dd>${reason !== '' && html`<dd class="muted">${reason}</dd>`}</div>`
  })}</dl></section>`
}

function machineFacts({ clockSynced, memory, temperature, hardware, certificate, addresses, here }: SystemModel): Html {
  return html`<div><dt>Clock</dt><dd>${moment(here.now, here)}, ${clockSynced === true ? say`set by a time server` : clockSynced === false ? html`<strong>not set by a time server</strong>` : say`not known whether by a time server`}</dd></div>
<div><dt>Memory</dt><dd>${bytesText(memory.used)} of ${bytesText(memory.total)} are taken by this program</dd></div>
${temperature !== undefined && html`<div><dt>Temperature</dt><dd>${sayNumber(temperature, 0)} °C at its hottest sensor</dd></div>`}
${hardware.undervoltage !== undefined && html`<div><dt>Supply voltage</dt><dd>${hardware.undervoltage ? html`<strong>too low</strong>: use a stronger power supply` : say`high enough`}</dd></div>`}
${hardware.wear.map(one => html`<div><dt>Wear of <code>${one.disk}</code></dt><dd>${wearWords(one)}</dd></div>`)}
<div><dt>Certificate of the pages</dt><dd>${certificate ? certificateWords(certificate, here) : say`none; the pages are not encrypted by this process`}</dd></div>
${addresses.map(({ name, address }) => html`<div><dt>Network <code>${name}</code></dt><dd><code>${address}</code></dd></div>`)}`
}

/** A disk takes no more writes once its spare blocks are used up. */
function wearWords({ used_percent, spare }: DiskWear): Html {
  const life =
    used_percent === null
      ? say`life not told`
      : used_percent > 100
        ? say`more than its expected life is used`
        : say`at most ${used_percent} % of its life is used`
  const told = (used_percent ?? 0) >= WORN_PERCENT ? html`<strong>${life}</strong>` : html`${life}`
  if (spare === 'warning') return html`${told}<br><strong>most of its spare blocks are used: replace it</strong>`
  if (spare === 'urgent') return html`${told}<br><strong>nearly all of its spare blocks are used: replace it now</strong>`
  return told
}
const WORN_PERCENT = 90

function certificateWords({ not_after, fingerprint }: PublicCertificate, here: Here): Html {
  const left = not_after - here.now
  const until = left < 0 ? say`expired` : formatLeft(left)
  return html`${moment(not_after, here)}, ${left < CERTIFICATE_SOON ? html`<strong>${until}</strong>` : until}<br><code>${fingerprint}</code>`
}

const toolsSection = ({ isAdmin }: SystemModel): Html => html`<section class="card"><h2>Look and keep</h2>
${
  isAdmin
    ? html`<ul class="links">
<li><a href="/log">Log</a>: the newest lines, and how much is logged</li>
<li><a href="/settings">Settings</a>: each with where it comes from</li>
<li><a href="/api/diagnostics" download>Diagnostics file</a>: health, settings, log and machine as a ZIP, without readings and passwords</li>
<li><a href="/backups">Backups</a>: download one; how to restore is said there</li>
<li><a href="/audit">Audit</a>: who changed what</li></ul>`
    : html`<p>Log, settings, diagnostics, backups and restart are shown to an admin.</p>`
}</section>`

/** What anybody gets who reaches this address; `/api/docs` names each route with its role. */
export const OPEN_PATHS = ['/api/health', '/api/building/snapshot', '/api/dashboard/summary']

const programsSection = (): Html => html`<section class="card"><h2>For programs</h2>
<p><a href="/api/docs">What programs can ask</a> lists each request with the role that it needs, where <code>public</code> needs none.</p>
<p>Without signing in anybody who reaches this address gets health and figures: counts, codes and ages, without names and addresses.</p>
<ul class="links">${OPEN_PATHS.map(path => html`<li><a href="${path}"><code>${path}</code></a></li>`)}</ul></section>`

const restartSection = ({ csrf }: SystemModel): Html => html`<section class="card"><h2>Restart</h2>
<p>Ends the program and starts it again, which takes about half a minute. Nothing is read or received meanwhile, a run of rules is cancelled, and nobody is signed out. Nothing that is stored is lost.</p>
<form method="post" action="/system/restart">${csrfField(csrf)}<label class="check"><input type="checkbox" name="sure" value="yes" required> Restart although nothing is read meanwhile</label><button>Restart</button></form></section>`
