/** The page of the box: its version, what became of the last update, and a form for the next. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { UpdateState } from '#shared/core/update/update-wire.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { type Here, momentAge } from '#shared/central/ui/moment.ts'

type SystemModel = {
  version: string
  isAvailable: boolean
  last: UpdateState | undefined
  isAdmin: boolean
  here: Here
  csrf: string
}

const WORDS: Readonly<{ [S in UpdateState['state']]: string }> = {
  installing: 'is being checked and installed into the other slot; the box goes on working',
  installed: 'is installed; the box starts it now',
  trying:
    'has started. It stays when the box has been healthy for five minutes; otherwise the version before comes back by itself',
  confirmed: 'works and stays',
  refused: 'was refused',
  failed: 'could not be installed; nothing has changed',
  rolled_back: 'did not become healthy, and the version before is back',
}

export const systemBody = (model: SystemModel): Html => html`<h1>System</h1>
<p class="lead">Version <code>${model.version}</code> runs.</p>
${lastSection(model)}
${model.isAvailable ? model.isAdmin && formSection(model) : html`<section class="card"><p>This appliance does not run on Plenum's own system image. It is updated like the other software of its machine.</p></section>`}`

function lastSection({ last, here }: SystemModel): Html | false {
  if (last === undefined) return false
  const { state, version, reason, at } = last
  return html`<section class="card"><h2>Last update</h2>
<p>${version === '' ? 'The file' : html`Version <code>${version}</code>`} ${WORDS[state]} (${momentAge(Date.parse(at), here)}).</p>
${reason !== '' && html`<p>Reason: ${reason}</p>`}</section>`
}

const formSection = ({ csrf }: SystemModel): Html => html`<section class="card"><h2>Update</h2>
<p>Choose the file of an update (<code>.raucb</code>). The box checks its signature, installs it beside the running version, restarts once, and goes back by itself when the new version does not work. Polling stops for about a minute; nothing that is stored is lost.</p>
<form class="fields" method="post" action="/system" enctype="multipart/form-data">${csrfField(csrf)}
<label class="check"><input type="checkbox" name="force" value="1"> Also when it is older than the running version</label>
<label>Update <input type="file" name="file" accept=".raucb" required></label>
<button>Install</button></form></section>`
