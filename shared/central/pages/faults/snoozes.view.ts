/** Snoozes in words, and what is snoozed now, with the form that ends one. */
import type { Finding } from '#shared/core/findings/finding.ts'
import { snoozeScope, type Snooze, SNOOZE_SCOPES, type SnoozeScope, type ShownNote } from '#shared/core/findings/snooze.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { say, words } from '#shared/node/http/language.ts'
import { DAY, HOUR } from '#shared/core/time.ts'
import { NOTE_MAX } from '#shared/central/commands/command.ts'
import { titleOf } from '#shared/central/ui/words.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { equipmentLink, findingHref, ruleHref } from '#shared/central/ui/links.ts'
import { formatMoment, type Here, moment } from '#shared/central/ui/moment.ts'

/** How long a fault may be snoozed: it always ends. */
export const SNOOZES = words([
  { name: '4 hours', ms: 4 * HOUR },
  { name: '1 day', ms: DAY },
  { name: '7 days', ms: 7 * DAY },
  { name: '30 days', ms: 30 * DAY },
] as const)

const SCOPE_WORDS: Record<SnoozeScope, string> = words({
  fault: 'this fault and its next episodes',
  episode: 'this episode only',
  equipment: 'all faults of the equipment',
  rule: 'this rule in the whole building',
})
/** The widest that does not hide other faults comes first. */
const OFFERED: readonly SnoozeScope[] = ['fault', ...SNOOZE_SCOPES.filter(scope => scope !== 'fault')]

/** The scopes of a form. */
export const scopeOptions = (): Html[] => OFFERED.map(scope => html`<option value="${scope}">${SCOPE_WORDS[scope]}</option>`)

/** @returns `snoozed until 14:00 (all faults of the equipment)` */
export function snoozedWords(
  { snoozed_until, snooze_scope = 'episode' }: Pick<ShownNote, 'snoozed_until' | 'snooze_scope'>,
  here: Here,
): string {
  const until = say`snoozed until ${formatMoment(snoozed_until ?? here.now, here)}`
  return snooze_scope === 'episode' ? until : `${until} (${SCOPE_WORDS[snooze_scope]})`
}

/** What the page of a snoozed fault says above all else. */
export const snoozeNotice = (
  { snoozed_until, snooze_scope = 'episode', snooze_reason, snoozed_by }: ShownNote,
  here: Here,
): Html | false =>
  snoozed_until !== undefined &&
  html`<p class="notice">Snoozed until ${moment(snoozed_until, here)} (${SCOPE_WORDS[snooze_scope]})${snooze_reason !== undefined && html`: ${snooze_reason}`}${snoozed_by !== undefined && html` <span class="muted">${snoozed_by}</span>`}</p>`

/** Why a finding is not in the other lists. */
export function silencedWords({ suppressed_by }: Pick<Finding, 'suppressed_by'>, note: ShownNote, here: Here): string {
  if (note.not_a_fault !== undefined) return say`not a fault: ${note.not_a_fault}`
  return suppressed_by === undefined
    ? say`snoozed until ${formatMoment(note.snoozed_until ?? here.now, here)}`
    : say`explained by another fault`
}

type EndForm = { snooze_id: string; csrf: string; back: string; mayOperate: boolean }

/** Ends a snooze early. */
export const endForm = ({ snooze_id, csrf, back, mayOperate }: EndForm): Html =>
  html`<form method="post" action="/faults/snoozes/end">${csrfField(csrf)}<input type="hidden" name="snooze_id" value="${snooze_id}"><input type="hidden" name="back" value="${back}"><button${!mayOperate && html` disabled`}>End the snooze</button></form>`

/** Says once that a snooze was ended, with the button that takes it up again. */
export const endedToast = ({ snooze_id, csrf, back, mayOperate }: EndForm): Html =>
  html`<div class="toast" role="status"><p>The snooze is ended.</p>${
    mayOperate &&
    html`<form method="post" action="/faults/snoozes/restore">${csrfField(csrf)}<input type="hidden" name="snooze_id" value="${snooze_id}"><input type="hidden" name="back" value="${back}"><button>Undo</button></form>`
  }</div>`

/** A snooze and the names of what it covers. */
export type NamedSnooze = { snooze: Snooze; here: Here; building: string; equipment: string; rule: string }
type ListModel = { snoozes: NamedSnooze[]; csrf: string; mayOperate: boolean; back: string; severalBuildings: boolean }

/** What is snoozed now, in one place. */
export const snoozeList = ({ snoozes, severalBuildings, ...form }: ListModel): Html =>
  html`<section class="card" id="snoozes"><h2>Snoozed now <span class="count">${snoozes.length}</span></h2>
${
  snoozes.length === 0
    ? html`<p>Nothing is snoozed.</p>`
    : html`<table class="fleet"><thead><tr><th scope="col">What</th><th scope="col">Until</th><th scope="col">Why</th><th scope="col">Who</th><th scope="col"><span class="hidden">End</span></th></tr></thead><tbody>${snoozes.map(
        one => snoozeRow(one, form, severalBuildings),
      )}</tbody></table>`
}
<p class="muted">A snooze keeps faults out of the lists and out of alerts. They are recorded all the same, and are listed again when it ends while they last. Each counts where it was set: a box and its hub have their own.</p></section>`

const snoozeRow = (one: NamedSnooze, form: Omit<EndForm, 'snooze_id'>, severalBuildings: boolean): Html => {
  const { snooze, here, building } = one
  const { snooze_id, until, reason, created_by, created_at } = snooze
  return html`<tr><td data-label="${say`What`}"><span>${targetWords(one)}${severalBuildings && html` <span class="muted">${building}</span>`}</span></td><td data-label="${say`Until`}">${moment(until, here)}</td><td data-label="${say`Why`}">${reason ?? '–'}</td><td data-label="${say`Who`}"><span>${created_by ?? '–'}${created_at > 0 && html` <span class="muted">${moment(created_at, here)}</span>`}</span></td><td>${endForm({ ...form, snooze_id })}</td></tr>`
}

function targetWords({ snooze, equipment, rule, building }: NamedSnooze): Html {
  const { building_id, equipment_id = '', rule_id = '', finding_id = '' } = snooze
  const place = equipmentLink({ building_id, equipment_id }, equipment)
  switch (snoozeScope(snooze)) {
    case 'episode':
      return html`<a href="${findingHref(finding_id)}">${rule}</a>, ${place}, ${say`this episode only`}`
    case 'fault':
      return html`<a href="${ruleHref(rule_id, building_id)}">${rule}</a>, ${place}`
    case 'equipment':
      return html`${say`All faults of`} ${place}`
    case 'rule':
      return html`<a href="${ruleHref(rule_id, building_id)}">${rule}</a>, ${say`everywhere in ${building}`}`
  }
}

/** What an equipment's page says while all its faults are snoozed. */
export const equipmentNotice = ({ until, reason, created_by }: Snooze, here: Here): Html =>
  html`<p class="notice">All faults of this equipment are snoozed until ${moment(until, here)}${reason !== undefined && html`: ${reason}`}${created_by !== undefined && html` (${created_by})`}. <a href="/faults?lane=silenced">What is snoozed</a></p>`

type AheadModel = {
  building: { building_id: string }
  equipment: { equipment_id: string }
  rules: { runnable: readonly { rule_id: string; title: string }[] }
}
export type SnoozeForm = { csrf: string; mayOperate: boolean }

/** Snoozes an equipment, or a rule on it, before anything is found there. */
export const snoozeAheadForm = ({ building, equipment, rules, csrf, mayOperate }: AheadModel & SnoozeForm): Html | false =>
  mayOperate &&
  html`<details class="card fold"><summary><h2>Snooze before work begins</h2></summary>
<p>Faults that occur until then are recorded and stay out of lists and alerts.</p>
<form class="fields" method="post" action="/faults/snoozes/begin">${csrfField(csrf)}<input type="hidden" name="building_id" value="${building.building_id}"><input type="hidden" name="equipment_id" value="${equipment.equipment_id}">
<label>What to snooze <select name="rule_id"><option value="">${SCOPE_WORDS.equipment}</option>${rules.runnable
    .map(({ rule_id, title }) => ({ rule_id, words: titleOf({ title }) }))
    .toSorted((a, b) => a.words.localeCompare(b.words))
    .map(({ rule_id, words: text }) => html`<option value="${rule_id}">${text}</option>`)}</select></label>
<label>Snooze for <select name="hours">${SNOOZES.map(({ name, ms }) => html`<option value="${ms / HOUR}">${name}</option>`)}</select></label>
<label>Reason <input name="reason" maxlength="${NOTE_MAX}" required></label>
<button>Snooze</button></form></details>`
