/** The page that restores a backup: what it holds beside what it replaces, and when. */
import { restartingCard } from '#shared/central/pages/system/restarting.view.ts'
import type { Problem } from '#shared/core/problem.ts'
import { parseInstant } from '#shared/core/time.ts'
import type { Holdings } from '#shared/node/backup/holdings.ts'
import type { RestoreState } from '#shared/node/backup/staged-restore.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { say, sayCount, sayMade, sayNumber, words } from '#shared/node/http/language.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'

export const RESTORE_PATH = '/backups/restore'

type RestoreModel = {
  state: RestoreState | undefined
  /** Undefined where a workspace is restored by the command alone. */
  present: Holdings | undefined
  version: string
  /** The program ends and starts again once it is confirmed. */
  restarts: boolean
  refusal: Problem | undefined
  here: Here
  csrf: string
}

export const restoreBody = (model: RestoreModel): Html => html`<p class="crumbs"><a href="/backups">Backups</a></p>
<h1>Restore a backup</h1>
<p class="lead">${
  model.restarts
    ? say`A backup is uploaded and checked beside what is in use. Only after you have seen what it holds and confirmed it, the program starts again and puts it in place.`
    : say`A backup is uploaded and checked beside what is in use. Only after you have seen what it holds and confirmed it, the next start of the program puts it in place.`
}</p>
${model.refusal !== undefined && html`<p class="notice" role="alert" id="refusal">${say`${sayMade(model.refusal.message)}. Nothing was replaced.`}</p>`}
${model.present ? stepOf(model, model.present) : html`<section class="card quiet-card"><h2>Restored on its machine</h2><p>A hub with tenants, or one of several that take turns, is restored with <code>provisioning/main.ts restore</code>.</p></section>`}`

function stepOf(model: RestoreModel, present: Holdings): Html {
  const { state } = model
  if (state?.phase === 'staged') return html`${comparison(state, present, model)}${confirmForm(state, model)}`
  if (state?.phase === 'confirmed')
    return html`${model.restarts ? restartingCard(say`The program starts again and puts the backup in place`, RESTORE_PATH) : waiting(state, model)}${comparison(state, present, model)}`
  return html`${lastRestore(model)}${uploadForm(model)}`
}

const uploadForm = ({
  csrf,
}: RestoreModel): Html => html`<form class="card fields" method="post" action="${RESTORE_PATH}" enctype="multipart/form-data">${csrfField(csrf)}
<label>Passphrase of the backup <input type="password" name="passphrase" maxlength="1000" autocomplete="off" required></label>
<label>File of the backup, .backup <input type="file" name="file" accept=".backup" required></label>
<p class="muted">It must be of this site, and of this version of the program or an earlier one. Nothing is replaced yet. Checking a large one takes minutes.</p>
<button class="primary">Upload and check</button></form>`

const ROWS: readonly { key: Exclude<keyof Holdings, 'history_bytes'>; text: string }[] = words(
  [
    { key: 'buildings', text: 'Buildings' },
    { key: 'equipment', text: 'Equipment' },
    { key: 'points', text: 'Points' },
    { key: 'findings', text: 'Faults, past ones too' },
    { key: 'users', text: 'People with a login of their own' },
    { key: 'rules', text: 'Rules of the site' },
    { key: 'history_files', text: 'Files of history' },
  ],
  'text',
)
const megabytes = (bytes: number): string => `${sayNumber(bytes / 1e6, 1)} MB`

function comparison({ about, holds }: RestoreState, present: Holdings, { here, version }: RestoreModel): Html {
  const at = parseInstant(about.created_at)
  return html`<section class="card"><h2>What it holds, and what it replaces</h2>
<dl class="values"><div><dt>Made</dt><dd>${at === undefined ? about.created_at : moment(at, here)}</dd></div>
<div><dt>Site</dt><dd><code>${about.site_id}</code></dd></div>
<div><dt>Written by version</dt><dd><code>${about.version}</code> <span class="muted">(this is <code>${version}</code>)</span></dd></div></dl>
<table class="tried"><thead><tr><th scope="col">What</th><th scope="col">In the backup</th><th scope="col">Now, replaced</th></tr></thead>
<tbody>${ROWS.map(
    ({ key, text }) =>
      html`<tr><td data-label="What"><div>${text}</div></td><td data-label="In the backup"><div>${sayCount(holds[key])}</div></td><td data-label="Now, replaced"><div>${sayCount(present[key])}</div></td></tr>`,
  )}<tr><td data-label="What"><div>Size of the history</div></td><td data-label="In the backup"><div>${megabytes(holds.history_bytes)}</div></td><td data-label="Now, replaced"><div>${megabytes(present.history_bytes)}</div></td></tr></tbody></table>
<p>Settings, devices and rules are replaced too. Certificates, keys, the built-in logins of this machine, and what a box has not sent yet stay. Readings, faults and changes since the backup was made are lost.</p></section>`
}

const discardForm = (csrf: string): Html =>
  html`<form method="post" action="${RESTORE_PATH}/discard">${csrfField(csrf)}<button>Discard the upload</button></form>`

const confirmForm = (
  { about }: RestoreState,
  { csrf, restarts }: RestoreModel,
): Html => html`<section class="card"><h2>Confirm</h2>
<p>${
  restarts
    ? say`The program then ends and starts again at once, which takes about a minute. Nothing is read or recorded meanwhile, and everybody may have to sign in again.`
    : say`Nothing happens until somebody starts the program again on its machine: here, nothing starts it again by itself.`
}</p>
<form method="post" action="${RESTORE_PATH}/confirm">${csrfField(csrf)}<label class="check"><input type="checkbox" name="sure" value="yes" required> Replace what is in use by the backup of ${about.created_at.slice(0, 10)}</label><button class="primary">${restarts ? say`Restore and start again now` : say`Restore at the next start`}</button></form>
${discardForm(csrf)}</section>`

const waiting = (
  { by, at }: RestoreState,
  { csrf, here }: RestoreModel,
): Html => html`<section class="card" role="status"><h2>Waits for the next start</h2>
<p>Confirmed by ${by ?? '–'} ${at !== undefined && moment(at, here)}. Start the program again on its machine to put the backup in place. What is replaced is kept until the backup has opened, and comes back when it does not open three times.</p>
${discardForm(csrf)}</section>`

function lastRestore({ state, here }: RestoreModel): Html | false {
  if (!state) return false
  const made = parseInstant(state.about.created_at)
  const what = made === undefined ? state.about.created_at : moment(made, here)
  return state.phase === 'undone'
    ? html`<p class="notice" role="alert">The backup of ${what} did not open. What was there before is back; the log says why.</p>`
    : html`<p class="notice" role="status">The backup of ${what} is in place.</p>`
}
