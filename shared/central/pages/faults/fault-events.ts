/** Who did what about a fault, and when: from the audit rows of its note. */
import type { Finding } from '#shared/core/findings/finding.ts'
import { SNOOZE_SCOPES, snoozeSubject, snoozeTarget, type ShownNote } from '#shared/core/findings/snooze.ts'
import type { AuditStore, StoredAuditRow } from '#shared/core/stores.ts'
import { DAY } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { snoozedWords } from './snoozes.view.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { say } from '#shared/node/http/language.ts'

/** Changes that the page of a fault lists. */
const EVENTS_MAX = 50

/** One change of the note, as the audit has it. */
export type FaultEvent = Pick<StoredAuditRow, 'at' | 'actor'> & { before: Partial<ShownNote>; after: Partial<ShownNote> }

/**
 * @returns the newest changes of the note and of the snoozes that cover the fault, newest first; a box whose clock is up to a day
 *   ahead of this one counts too
 */
export const faultEvents = (audit: Pick<AuditStore, 'list'>, finding: Finding): FaultEvent[] =>
  SNOOZE_SCOPES.map(scope => snoozeSubject(snoozeTarget(finding, scope)))
    .flatMap(subject => audit.list({ subject, building_id: finding.building_id, from: finding.from - DAY, limit: EVENTS_MAX }))
    .toSorted((a, b) => b.at - a.at || b.entry - a.entry)
    .slice(0, EVENTS_MAX)
    .map(({ at, actor, before, after }) => ({ at, actor, before: before ?? {}, after: after ?? {} }))

export const eventsSection = (events: readonly FaultEvent[], here: Here): Html | false =>
  events.length > 0 &&
  html`<section class="card"><h2>Who did what</h2>
<ul class="log">${events.map(event => html`<li>${moment(event.at, here)} <strong>${event.actor}</strong>: ${eventWords(event, here)}</li>`)}</ul></section>`

/** @returns `acknowledged`, `snoozed until 14:00: filter is ordered` */
function eventWords({ before, after }: FaultEvent, here: Here): string {
  const isNew = (field: keyof ShownNote) => before[field] !== after[field]
  const { note, assignee, not_a_fault, snoozed_until, snooze_reason } = after
  const because = snooze_reason === undefined ? '' : `: ${snooze_reason}`
  const said = [
    isNew('ack') && (after.ack === 'acked' ? say`acknowledged` : say`no longer acknowledged`),
    isNew('assignee') && (assignee === undefined ? say`no longer assigned` : say`assigned to ${assignee}`),
    (isNew('snoozed_until') || isNew('snooze_reason')) &&
      (snoozed_until === undefined ? say`no longer snoozed` : `${snoozedWords(after, here)}${because}`),
    isNew('note') && (note === undefined ? say`removed the note` : say`noted: ${note}`),
    isNew('not_a_fault') && (not_a_fault === undefined ? say`a fault after all` : say`not a fault: ${not_a_fault}`),
  ].filter(words => words !== false)
  return said.length > 0 ? said.join('; ') : say`changed nothing`
}
