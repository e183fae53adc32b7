/** Actions on a fault as plain forms, which work without script. A viewer sees why they are disabled. */
import type { ShownNote } from '#shared/core/findings/snooze.ts'
import { loginRole } from '#shared/central/ui/words.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { HOUR } from '#shared/core/time.ts'
import { csrfField, type User } from '#shared/central/ui/frame.ts'
import { NOTE_MAX } from '#shared/central/commands/command.ts'
import { ASSIGNEE_MAX } from '#shared/central/commands/notes.ts'
import { findingHref } from '#shared/central/ui/links.ts'
import { endForm, scopeOptions, SNOOZES } from './snoozes.view.ts'
import { say } from '#shared/node/http/language.ts'

type ActionsModel = {
  finding: { finding_id: string }
  note: ShownNote
  user: User | undefined
  csrf: string
}

function actionForm({ finding, user, csrf }: ActionsModel, action: string, body: Html): Html {
  const isDisabled = user?.mayOperate !== true
  return html`<form method="post" action="/faults/${encodeURIComponent(finding.finding_id)}/${action}">${csrfField(csrf)}<fieldset${isDisabled && html` disabled`}>${body}</fieldset></form>`
}

const ackForm = (model: ActionsModel): Html =>
  model.note.ack === 'acked'
    ? html`<p>Acknowledged.</p>`
    : actionForm(model, 'ack', html`<button class="primary">Acknowledge</button>`)

/** What is done most, above the evidence, with the way to the rest below it: on a phone that is six screens down. */
export const faultBar = (model: ActionsModel): Html | false =>
  model.user?.mayOperate === true &&
  html`<div class="fault-bar">${ackForm(model)}<a href="#actions">${say`Note, assign, snooze …`}</a></div>`

export const faultActions = (model: ActionsModel): Html => {
  const { finding, note, user, csrf } = model
  const open = user?.mayOperate === true
  const form = (action: string, body: Html) => actionForm(model, action, body)
  return html`<section class="card actions" id="actions"${open && html` data-fault-actions`}><h2>What to do about it</h2>
${!open && html`<p class="why">These need the operator role; you are signed in as ${user ? loginRole(user.role) : say`nobody`}.</p>`}
${!open && ackForm(model)}
${form(
  'note',
  html`<input type="hidden" name="was" value="${note.note}"><label>Note<textarea name="note" rows="2" maxlength="${NOTE_MAX}">${note.note}</textarea></label><button>Save the note</button>`,
)}
${form(
  'assign',
  html`<input type="hidden" name="was" value="${note.assignee}"><label>Assign to<input name="assignee" maxlength="${ASSIGNEE_MAX}" value="${note.assignee}" autocomplete="off"></label><button>Assign</button>`,
)}
${note.snooze_id !== undefined && endForm({ snooze_id: note.snooze_id, csrf, back: findingHref(finding.finding_id), mayOperate: open })}
${form(
  'snooze',
  html`<label>Snooze for<select name="hours">${SNOOZES.map(
    ({ name, ms }) => html`<option value="${ms / HOUR}">${name}</option>`,
  )}</select></label><label>What to snooze<select name="scope">${scopeOptions()}</select></label><label>Reason<input name="reason" maxlength="${NOTE_MAX}" required></label><button>Snooze</button>`,
)}
${
  note.not_a_fault === undefined
    ? form(
        'not-a-fault',
        html`<label>Not a fault, because<input name="reason" maxlength="${NOTE_MAX}" required></label><button>Mark as not a fault</button>`,
      )
    : form('not-a-fault', html`<p>Marked as not a fault.</p><button name="reason" value="">It is a fault after all</button>`)
}
${open && html`<p class="muted for-keys">Keys: <kbd>a</kbd> acknowledge, <kbd>n</kbd> note, <kbd>s</kbd> snooze.</p>`}
</section>`
}
