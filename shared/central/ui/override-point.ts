/** The priority array of one point: all sixteen levels as of the newest visit, and who held it when. */
import { targetName } from '#shared/core/bacnet/object-name.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { isOverride, type LevelMeaning } from '#shared/core/priority/priority-levels.ts'
import type { PointWords } from '#shared/core/priority/override-rows.ts'
import { isInput, type PriorityRecord, type PriorityTarget, type Slot } from '#shared/core/priority/priority-record.ts'
import type { CommandPeriod } from '#shared/core/priority/command-state.ts'
import { overrideIcon } from './icons.ts'
import { type Here, moment, momentAge, momentNow } from './moment.ts'
import { objectWords, valueOr } from './overrides-list.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

type OverridePointModel = {
  here: Here
  /** Path of the list, and of this page. */
  listPath: string
  path: string
  point: PointWords
  /** Page of the point; undefined for one that left the list. */
  pointPage?: string
  latest: PriorityRecord
  /** [16], P1 first */
  meanings: LevelMeaning[]
  /** Newest first. */
  stretches: CommandPeriod[]
  /** Address of the older visits; undefined when there are none. */
  olderHref: string | undefined
}

/** Path of the page of a point below that of the list; `device_id` distinguishes devices of one instance. */
export function pointEnd({ device_id, device_instance, object_type, object_instance }: PriorityTarget): PointEnd {
  return {
    end: `/${device_instance}/${object_type}/${object_instance}`,
    query: device_id === undefined ? {} : { device_id },
  }
}
type PointEnd = { end: string; query: Record<string, string> }

export const overridePointBody = (
  model: OverridePointModel,
): Html => html`<p class="crumbs"><a href="${model.listPath}">Overrides</a></p>
<h1>${model.point.name}</h1>
${facts(model)}
<div class="columns">
${timeline(model)}
${!isInput(model.latest.target) && slotTable(model)}
</div>
<p class="as-of">As of ${momentNow(model.here)} <a href="${model.path}">Refresh</a></p>`

function facts({ point, pointPage, latest, here, meanings }: OverridePointModel): Html {
  const level = latest.active_level
  const lines: (readonly [string, Html | string])[] = [
    ...(isInput(latest.target)
      ? ([[say`Value set by hand`, latest.out_of_service ? valueOr(latest.present_value, point.valueWords) : say`none`]] as const)
      : ([
          [say`Commanded by`, level === null ? say`nobody` : heldBy(level, meanings)],
          [say`Present value`, valueOr(latest.present_value, point.valueWords)],
          [say`Relinquish default`, valueOr(latest.relinquish_default, point.valueWords)],
        ] as const)),
    [
      say`Out of service`,
      latest.out_of_service === undefined ? say`not read` : latest.out_of_service ? html`<strong>yes</strong>` : say`no`,
    ],
    [say`Equipment`, point.equipment ?? say`none`],
    ...(pointPage === undefined ? [] : ([[say`Point`, html`<a href="${pointPage}">Value, plot and rules</a>`]] as const)),
    [say`Device`, point.device],
    [say`Device instance`, String(latest.target.device_instance)],
    [
      say`Object`,
      html`<code>${targetName(latest.target)}</code> <span class="muted"><code>${objectWords(latest.target)}</code></span>`,
    ],
    [say`Last visit`, momentAge(latest.observed_at, here)],
  ]
  return html`<dl class="facts card">${lines.map(([term, what]) => html`<div><dt>${term}</dt><dd>${what}</dd></div>`)}</dl>`
}

function heldBy(level: number, meanings: LevelMeaning[]): Html {
  const slot = `P${level}`
  return html`${isOverride(level, meanings) ? overrideIcon(slot) : slot} <span class="muted">${say(meanings[level - 1]!.name)}</span>`
}

const slotTable = ({ latest, meanings, point }: OverridePointModel): Html => html`<section class="card">
<h2>The sixteen slots</h2>
<p class="muted">The highest slot with a value commands; with none, the relinquish default counts.</p>
<table class="slots">
<thead><tr><th scope="col">Slot</th><th scope="col">Name</th><th scope="col">Value</th></tr></thead>
<tbody>${latest.slots.map(slot => {
  const commands = slot.level === latest.active_level
  return html`<tr${commands && html` class="commands"`}><th scope="row">P${slot.level}</th><td>${say(meanings[slot.level - 1]!.name)}</td><td>${slotWords(slot, point)}${commands && say` (commands)`}</td></tr>`
})}
<tr${latest.active_level === null && html` class="commands"`}><th scope="row">–</th><td>Relinquish default</td><td>${valueOr(latest.relinquish_default, point.valueWords)}${latest.active_level === null && say` (counts)`}</td></tr>
</tbody></table>
</section>`

function slotWords(slot: Slot, { valueWords }: PointWords): string {
  if (slot.state === 'value') return valueWords(slot.value)
  return slot.state === 'null' ? say`empty` : say`not read: ${slot.error}`
}

const timeline = (model: OverridePointModel): Html => html`<section class="card">
<h2>${isInput(model.latest.target) ? say`When it was out of service` : say`Who held it`}</h2>
<ol class="log">${model.stretches.map(stretch => stretchLine(stretch, model))}</ol>
${model.olderHref !== undefined && html`<p><a href="${model.olderHref}">Older visits</a></p>`}
</section>`

function stretchLine({ from, to, level, value, visits, out_of_service }: CommandPeriod, model: OverridePointModel): Html {
  const { here, meanings, point } = model
  const nobody = isInput(model.latest.target)
    ? out_of_service
      ? html`<strong>Out of service</strong>`
      : say`In service`
    : say`Nobody: the relinquish default`
  return html`<li>${level === null ? nobody : html`${heldBy(level, meanings)}: <strong>${valueOr(value, point.valueWords)}</strong>`}${out_of_service && !isInput(model.latest.target) && say`, out of service`}<br>
<span class="muted">seen ${from === to ? html`at ${moment(from, here)}` : html`from ${moment(from, here)} to ${moment(to, here)}`}, ${sayCountOf(visits, 'visit')}</span></li>`
}
