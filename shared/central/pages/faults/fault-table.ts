/** The list of faults: one line for each on a desk, a card of few lines on a phone, and what is done to several at once. */
import type { Finding } from '#shared/core/findings/finding.ts'
import { formatDuration, HOUR } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { NOTE_MAX } from '#shared/central/commands/command.ts'
import { ASSIGNEE_MAX } from '#shared/central/commands/notes.ts'
import { costText, gapsText, rangeText } from '#shared/central/ui/cost-words.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { faultStateLegend, faultStateSign, overrideIcon, priorityIcon } from '#shared/central/ui/icons.ts'
import { equipmentLink, findingHref } from '#shared/central/ui/links.ts'
import { formatDay, formatAge, moment } from '#shared/central/ui/moment.ts'
import { pager } from '#shared/central/ui/pager.ts'
import { shortStateWords, titleOf } from '#shared/central/ui/words.ts'
import { SNOOZES } from './snoozes.view.ts'
import { scopeOptions, silencedWords } from './snoozes.view.ts'
import { type FaultGroup, type FaultPart, type FaultRow, faultsHref } from './fault-list.ts'
import { type FaultsModel, hereOf, systemOf } from './faults-model.ts'
import { say } from '#shared/node/http/language.ts'

/** Whether any fault of the list costs something that is known: else there is no column for it. */
const hasCost = ({ groups }: FaultsModel): boolean => groups.some(({ rows }) => rows.some(({ cost }) => cost !== undefined))

/** Rows that a phone shows before it is asked for the others: a card has some 140 px. */
const PHONE_ROWS = 25
/** Where the others begin: the link to it shows them, without script too. */
const LATER = 'later'

/** One table, so that columns stay in line from group to group. */
export function faultTable(model: FaultsModel): Html {
  const { mayOperate } = model
  const table = html`<table class="faults"${mayOperate && html` data-fault-keys`}>
<thead><tr>${mayOperate && html`<th scope="col" class="choose"><input type="checkbox" class="pick" data-pick-all hidden aria-label="Choose all"></th>`}<th scope="col">Priority</th><th scope="col">Fault</th><th scope="col">Equipment</th><th scope="col">Since</th><th scope="col">In fault</th>${hasCost(model) && html`<th scope="col">Cost</th>`}<th scope="col">State</th></tr></thead>
${model.groups.map((group, i) => groupBody(group, model, rowsBefore(model, i)))}
</table>${laterLink(rowsBefore(model, model.groups.length) - PHONE_ROWS)}`
  if (!mayOperate) return html`${table}${faultStateLegend()}${pages(model)}`
  return html`<form class="bulk-form" method="post" action="/faults/bulk">${csrfField(model.csrf)}<input type="hidden" name="back" value="${faultsHref(model.query)}">
${table}
${bulkBar()}
</form>${faultStateLegend()}${pages(model)}
<p class="muted for-keys">Keys: <kbd>j</kbd> <kbd>k</kbd> next and previous, <kbd>x</kbd> choose, <kbd>a</kbd> acknowledge, <kbd>s</kbd> snooze, with a reason.</p>`
}

/** Shown while a fault is chosen; a browser that cannot tell shows it always. */
const bulkBar = (): Html => html`<div class="bulk" role="group" aria-label="Do with the chosen faults">
<button hidden disabled></button><button name="action" value="ack" class="primary" formnovalidate>Acknowledge</button>
<details><summary>Snooze</summary><div>
<label>Snooze for<select name="hours">${SNOOZES.map(({ name, ms }) => html`<option value="${ms / HOUR}"${ms === 24 * HOUR && html` selected`}>${name}</option>`)}</select></label>
<label>What to snooze<select name="scope">${scopeOptions()}</select></label>
<label>Reason<input name="reason" maxlength="${NOTE_MAX}" required autocomplete="off"></label>
<button name="action" value="snooze">Snooze</button>
</div></details>
<label><span>Assign to</span><input name="assignee" maxlength="${ASSIGNEE_MAX}" autocomplete="off"></label>
<button name="action" value="assign" formnovalidate>Assign</button>
</div>`

const pages = ({ query, part }: FaultsModel): Html | false => pager(part, page => faultsHref({ ...query, page }))

const rowsBefore = ({ groups }: FaultsModel, group: number): number =>
  groups.slice(0, group).reduce((sum, { rows }) => sum + rows.length, 0)

const laterLink = (count: number): Html | false =>
  count > 0 && html`<ul class="choices show-later"><li><a href="#${LATER}">${say`Show ${count} more`}</a></li></ul>`

const groupBody = ({ title, rows }: FaultGroup, model: FaultsModel, before: number): Html => html`<tbody>
${title !== '' && html`<tr class="group${before >= PHONE_ROWS && ' later'}"><th scope="rowgroup" colspan="${6 + (hasCost(model) ? 1 : 0) + (model.mayOperate ? 1 : 0)}"><h2>${title} <span class="count">${rows.length}</span></h2></th></tr>`}
${rows.map((row, i) => faultRow(row, model, before + i))}
</tbody>`

function faultRow({ finding, note, priority, episodes, inFaultMs, cost, parts }: FaultRow, model: FaultsModel, at: number): Html {
  const here = hereOf(finding.building_id, model)
  const dataEnd = model.dataEnds.get(finding.building_id)
  const loud = finding.state === 'active' && dataEnd === undefined && note.ack === 'unacked' ? 'unacked' : 'quiet'
  const title = titleOf(finding)
  return html`<tr class="${loud} ${finding.state}${at >= PHONE_ROWS && ' later'}"${at === PHONE_ROWS && html` id="${LATER}"`}>
${model.mayOperate && html`<td class="choose"><input type="checkbox" class="pick" name="fault-${finding.finding_id}" value="${finding.finding_id}" aria-label="Choose ${title}"></td>`}
<td class="mark-cell p${priority}">${priorityIcon(priority)}</td>
<td class="what"><a href="${findingHref(finding.finding_id)}">${title}</a>${finding.relabelled_by !== undefined && parts.every(({ is }) => is !== 'cause') && html` ${overrideIcon(say`this fault is an override`)}`}${partsOf(parts, model)}</td>
<td class="where">${equipmentLink(finding, model.equipmentName(finding))}</td>
<td class="since">${moment(finding.from, here)} <span class="phone-only muted">${formatAge(finding.from, here.now)}</span></td>
<td class="long"><span class="phone-only">in fault</span> ${formatDuration(inFaultMs)}${episodes > 1 && html` <span class="muted">in ${episodes} episodes</span>`}</td>
${hasCost(model) && html`<td class="cost${cost === undefined && ' none'}">${costCell(finding, cost, model)}</td>`}
<td class="state">${faultStateSign(finding, note)} ${shortStateWords(finding, note, dataEnd === undefined ? undefined : formatDay(dataEnd, here))}${note.ack === 'unacked' && html`<span class="hidden">, ${say`not acknowledged`}</span>`}${model.query.lane === 'silenced' && html` <span class="muted">${silencedWords(finding, note, here)}</span>`}</td>
</tr>`
}

/** @returns the cost with its range as a title that a pointer shows; the page of the fault has both in words */
function costCell(finding: Finding, cost: FaultRow['cost'] | undefined, model: FaultsModel): Html {
  const system = systemOf(finding, model)
  if (cost) return html`<span title="${rangeText(cost, cost.unit, system)}">${costText(cost, system)}</span>`
  return html`<span class="muted" title="${gapsText(finding.not_priced ?? [])}">${(finding.not_priced ?? []).length > 0 ? say`not priced` : '–'}</span>`
}

/** Findings of one cause are one line; its parts open below. */
function partsOf(parts: FaultPart[], model: FaultsModel): Html | false {
  if (parts.length === 0) return false
  const explained = parts.filter(({ is }) => is === 'explained').length
  const more = explained > 0 && say`+${explained} related`
  return html`<details class="parts"><summary>${more}${explained < parts.length && overrideIcon(say`override`)}</summary><ul>${parts.map(
    ({ finding, is }) =>
      html`<li>${is === 'cause' && say`Cause: `}<a href="${findingHref(finding.finding_id)}">${titleOf(finding)}</a> <span class="muted">${model.equipmentName(finding)}</span></li>`,
  )}</ul></details>`
}
