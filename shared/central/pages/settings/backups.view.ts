/** The page of backups: the schedule, the stored ones, and a form that downloads one. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { Backups, StoredBackup } from '#shared/central/backup/backups.ts'
import { PASSPHRASE } from '#shared/central/commands/backup.ts'
import { RESTORE_PATH } from './restore.view.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { type Here, moment, momentAge } from '#shared/central/ui/moment.ts'
import { say, sayCountOf, sayNumber } from '#shared/node/http/language.ts'

type BackupsModel = { schedule: Backups['schedule']; stored: StoredBackup[]; here: Here; csrf: string }

export const backupsBody = (model: BackupsModel): Html => html`<h1>Backups</h1>
<p class="lead">${leadOf(model)}</p>
<section class="card"><h2>Download a backup</h2>
<p>The file holds the database, all history, settings and deployed rules, encrypted with a passphrase. Without the passphrase nobody can restore it. Certificates and private keys are not in it.</p>
<form class="fields" method="post" action="/backups">${csrfField(model.csrf)}
<label>Passphrase <input type="password" name="passphrase" minlength="${PASSPHRASE.minLength}" maxlength="${PASSPHRASE.maxLength}" autocomplete="new-password"${!model.schedule && html` required`}></label>
<label>The same again <input type="password" name="again" maxlength="${PASSPHRASE.maxLength}" autocomplete="new-password"></label>
${model.schedule && html`<p class="muted">Blank takes the passphrase of scheduled backups.</p>`}
<button>Download</button></form></section>
${model.schedule && storedSection(model)}
<section class="card"><h2>Restore a backup</h2><p>A backup of this site takes the place of what is in use, after you have seen what it holds. <a href="${RESTORE_PATH}">Restore a backup</a>. Into an empty folder, also on another machine: <code>provisioning/main.ts restore</code>.</p></section>`

function leadOf({ schedule, stored: [newest], here }: BackupsModel): Html {
  if (!schedule) {
    return html`No backups are scheduled. Set <code>SERVICE_BACKUP_DIR</code> and <code>SERVICE_BACKUP_PASSPHRASE</code> to store one every day.`
  }
  const every = schedule.everyHours === 24 ? say`day` : sayCountOf(schedule.everyHours, 'hour')
  const place = html`Every ${every} a backup is stored in <code>${schedule.folder}</code> and restored once to verify it; the newest ${schedule.keep} stay.`
  return newest ? html`${place} The newest is from ${momentAge(newest.created_at, here)}.` : html`${place} None is stored yet.`
}

const storedSection = ({ stored, here }: BackupsModel): Html => html`<section class="card"><h2>Stored backups</h2>
${
  stored.length === 0
    ? html`<p>None yet.</p>`
    : html`<table><thead><tr><th scope="col">File</th><th scope="col">Made</th><th scope="col">Size</th></tr></thead>
<tbody>${stored.map(
        ({ filename, created_at, bytes }) =>
          html`<tr><td><code>${filename}</code></td><td>${moment(created_at, here)}</td><td class="num">${sayNumber(bytes / 1e6, 1)} MB</td></tr>`,
      )}</tbody></table>`
}</section>`
