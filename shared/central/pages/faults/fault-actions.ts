/** Actions on a fault as plain forms, which work without script. A viewer sees why they are disabled. */
import { loginRole } from '#shared/central/ui/words.ts'
import type { FindingNote } from '#shared/core/findings/finding.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { csrfField, type User } from '#shared/central/ui/frame.ts'
import { NOTE_MAX } from '#shared/central/commands/command.ts'
import { ASSIGNEE_MAX } from '#shared/central/commands/notes.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { say, words } from '#shared/node/http/language.ts'

/** How long a fault may be snoozed: it always ends. */
export const SNOOZES = words([
  { name: '4 hours', ms: 4 * HOUR },
  { name: '1 day', ms: DAY },
  { name: '7 days', ms: 7 * DAY },
  { name: '30 days', ms: 30 * DAY },
] as const)

type ActionsModel = {
  finding: { finding_id: string }
  note: FindingNote
  here: Here
  user: User | undefined
  csrf: string
}

export const faultActions = ({ finding, note, here, user, csrf }: ActionsModel): Html => {
  const open = user?.mayOperate === true
  const until = snoozedUntil(note, here)
  const form = (action: string, body: Html) =>
    html`<form method="post" action="/faults/${encodeURIComponent(finding.finding_id)}/${action}">${csrfField(csrf)}<fieldset${!open && html` disabled`}>${body}</fieldset></form>`
  return html`<section class="card actions"><h2>What to do about it</h2>
${!open && html`<p class="why">These need the operator role; you are signed in as ${user ? loginRole(user.role) : say`nobody`}.</p>`}
${note.ack === 'acked' ? html`<p>Acknowledged.</p>` : form('ack', html`<button class="primary">Acknowledge</button>`)}
${form(
  'note',
  html`<label>Note<textarea name="note" rows="2" maxlength="${NOTE_MAX}">${note.note}</textarea></label><button>Save the note</button>`,
)}
${form(
  'assign',
  html`<label>Assign to<input name="assignee" maxlength="${ASSIGNEE_MAX}" value="${note.assignee}" autocomplete="off"></label><button>Assign</button>`,
)}
${until !== undefined && form('snooze', html`<p>Snoozed until ${moment(until, here)}${note.snooze_reason !== undefined && `: ${note.snooze_reason}`}.</p><button name="hours" value="0">End the snooze</button>`)}
${form(
  'snooze',
  html`<label>Snooze for<select name="hours">${SNOOZES.map(
    ({ name, ms }) => html`<option value="${ms / HOUR}">${name}</option>`,
  )}</select></label><label>Reason<input name="reason" maxlength="${NOTE_MAX}"></label><button>Snooze</button>`,
)}
${
  note.not_a_fault === undefined
    ? form(
        'not-a-fault',
        html`<label>Not a fault, because<input name="reason" maxlength="${NOTE_MAX}" required></label><button>Mark as not a fault</button>`,
      )
    : form('not-a-fault', html`<p>Marked as not a fault.</p><button name="reason" value="">It is a fault after all</button>`)
}
</section>`
}

/** When the snooze ends; undefined when there is none or it is over. */
const snoozedUntil = ({ snoozed_until }: FindingNote, { now }: Here): number | undefined =>
  snoozed_until !== undefined && snoozed_until > now ? snoozed_until : undefined
