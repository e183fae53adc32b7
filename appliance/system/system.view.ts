/** What the page System of a box has besides: the uplink, what became of the last update, and a form for the next. */
import { backlogCourse } from '#shared/core/telemetry/backlog.ts'
import { courseWords } from '#shared/central/system/backlog-words.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { UpdateState } from '#shared/core/update/update-wire.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { stateIcon } from '#shared/central/ui/icons.ts'
import { type Here, momentAge } from '#shared/central/ui/moment.ts'
import { logEnd } from '#shared/central/system/update-log.ts'
import type { PublisherState } from '../services/publisher.ts'
import { say, sayCountOf, sayMade, words } from '#shared/node/http/language.ts'

type BoxModel = {
  isAvailable: boolean
  last: UpdateState | undefined
  hub: PublisherState
  isAdmin: boolean
  here: Here
  csrf: string
}

const WORDS: Readonly<{ [S in UpdateState['state']]: string }> = words({
  installing: 'is being checked and installed into the other slot; the box goes on working',
  installed: 'is installed; the box starts it now',
  trying:
    'has started. It stays when page, polling, priority journal and uplink work for five minutes as they did before; otherwise the version before comes back by itself',
  confirmed: 'works and stays',
  refused: 'was refused',
  failed: 'could not be installed; nothing has changed',
  rolled_back: 'did not become healthy, and the version before is back',
})

export const boxSections = (model: BoxModel): Html => html`${uplinkSection(model)}
${lastSection(model)}
${model.isAvailable ? model.isAdmin && formSection(model) : html`<section class="card"><h2>Update</h2><p>This appliance does not run on Plenum's own system image. It is updated and restarted like the other software of its machine.</p></section>`}`

const CONNECTION_WORDS = words({ connecting: 'connecting', up: 'up' } as const)

function uplinkSection({ hub: { state, reason, backlog, oldest_at, drain_per_min, cert_not_after }, here }: BoxModel): Html {
  if (state === 'off') return html`<section class="card"><h2>Uplink</h2><p>This box sends to no hub.</p></section>`
  const course = courseWords(backlogCourse(backlog, drain_per_min, here.now), here)
  return html`<section class="card"><h2>Uplink</h2><dl class="values">
<div><dt>Connection</dt><dd>${stateIcon(state === 'up' ? 'ok' : 'down', CONNECTION_WORDS[state])}</dd>${reason !== undefined && html`<dd class="muted">${reason}</dd>`}</div>
<div><dt>Waiting for the hub</dt><dd>${backlog === 0 ? say`nothing` : sayCountOf(backlog, 'message')}${backlog > 0 && typeof oldest_at === 'number' && html`, the oldest from ${momentAge(oldest_at, here)}`}</dd>${course !== undefined && html`<dd class="muted">${course}</dd>`}</div>
<div><dt>Certificate of the box</dt><dd>${cert_not_after === null ? say`unknown` : momentAge(cert_not_after, here)}</dd></div></dl></section>`
}

function lastSection({ last, here }: BoxModel): Html | false {
  if (last === undefined) return false
  const { state, version, reason, at, log } = last
  return html`<section class="card"><h2>Last update</h2>
<p>${version === '' ? say`The file` : html`Version <code>${version}</code>`} ${WORDS[state]} (${momentAge(Date.parse(at), here)}).</p>
${reason !== '' && html`<p>Reason: ${sayMade(reason)}</p>`}${logEnd(log)}</section>`
}

const formSection = ({ csrf }: BoxModel): Html => html`<section class="card"><h2>Update</h2>
<p>Choose the file of an update (<code>.raucb</code>). The box checks its signature, installs it beside the running version, restarts once, and goes back by itself when the new version does not work. Polling stops for about a minute; nothing that is stored is lost.</p>
<form class="fields" method="post" action="/system" enctype="multipart/form-data">${csrfField(csrf)}
<label class="check"><input type="checkbox" name="force" value="1"> Also when it is older than the running version</label>
<label>Update <input type="file" name="file" accept=".raucb" required></label>
<button>Install</button></form></section>`
