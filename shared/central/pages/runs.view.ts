/** The page of runs: when rules ran over what, what that came to, and why it came to nothing. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building } from '#shared/core/model/model.ts'
import type { RunRecord } from '#shared/core/ports.ts'
import type { RunEntry } from '#shared/core/stores.ts'
import { formatDuration } from '#shared/core/time.ts'
import { type UnconfirmedModel, unconfirmedCard, untrustedLine } from '#shared/central/pages/faults/unconfirmed-card.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { buildingChoice } from '#shared/central/pages/settings/params.view.ts'
import { type RuleOwner, ruleOwnerNotice } from '#shared/central/ui/words.ts'
import { type RunPanel, runPanel } from '#shared/central/ui/run-panel.ts'
import { countWords, reasonLines, totalOf } from '#shared/central/ui/words.ts'
import { say, sayCountOf, sayPlaced, words } from '#shared/node/http/language.ts'

type RunsModel = {
  building: Building
  buildings: Building[]
  /** Of the building, newest first; those that wait or are under way are in the panel. */
  runs: RunEntry[]
  /** The run after which the next page begins; undefined on the last one. */
  next: string | undefined
  /** The appliance that runs the building's rules itself, where this process does not. */
  ruleOwner: RuleOwner | undefined
  panel: RunPanel
  /** The latest results of the building's rules. */
  brief: UnconfirmedModel
  here: Here
}

/** Failures that one run lists. */
const FAILED_MAX = 50
const TRIGGER_WORDS: Record<RunRecord['trigger'], string> = words({
  schedule: 'on schedule',
  request: 'asked for',
  file: 'by the trigger file',
})

export const runsBody = (model: RunsModel): Html => html`<p class="crumbs"><a href="/faults">Faults</a></p>
<h1>Runs</h1>
<p class="lead">When the rules were run over ${model.building.name}, and what that came to.</p>
${buildingChoice(model.buildings, model.building, '/runs')}
${ruleOwnerNotice(model.building.name, model.ruleOwner)}
${runPanel(model.panel)}
${model.runs.length > 0 ? runTable(model) : html`<section class="card"><p>No run has ended here yet.</p></section>`}
${unconfirmedCard(model.brief)}
${untrustedLine(model.brief)}
${model.next !== undefined && html`<p><a href="/runs?building=${encodeURIComponent(model.building.building_id)}&amp;after=${encodeURIComponent(model.next)}">Older runs</a></p>`}`

const runTable = ({ runs, here }: RunsModel): Html =>
  html`<section class="card"><table class="tried"><thead><tr><th scope="col">Ended</th><th scope="col">Looked at</th><th scope="col">Result</th></tr></thead>
<tbody>${runs.map(entry => runRow(entry, here))}</tbody></table></section>`

function runRow({ run, record }: RunEntry, here: Here): Html {
  const { trigger, asked_at, started_at, finished_at } = run
  const took = started_at !== null && finished_at !== null && html`, took ${formatDuration(finished_at - started_at)}`
  return html`<tr>
<td data-label="Ended"><div>${moment(finished_at ?? asked_at, here)} <span class="muted">${TRIGGER_WORDS[trigger]}${took}</span></div></td>
<td data-label="Looked at"><div>${record ? html`${sayCountOf(record.rule_ids.length, 'rule')} <span class="muted">${moment(record.from, here)} to ${moment(record.to, here)}</span>` : say`nothing`}</div></td>
<td data-label="Result"><div>${record ? resultOf(record) : cameToNothing(run)}</div></td>
</tr>`
}

const cameToNothing = ({ state, reason }: RunEntry['run']): Html =>
  state === 'failed' ? html`<strong>failed</strong>: ${reason}` : html`${reason ?? state}`

function resultOf({ counts, reasons, failed }: NonNullable<RunEntry['record']>): Html {
  const more = failed.length - FAILED_MAX
  const why = reasonLines(reasons)
  return html`${sayCountOf(totalOf(counts), 'check')}: ${countWords(counts)}${
    why.length > 0 &&
    html`<details class="figures"><summary>Why checks came to nothing</summary><ul>${why.map(line => html`<li>${line}</li>`)}</ul></details>`
  }${
    failed.length > 0 &&
    html`<details class="figures"><summary>${sayCountOf(failed.length, 'failure')}</summary><ul>${failed
      .slice(0, FAILED_MAX)
      .map(
        ({ rule_id, error }) => html`<li><code>${rule_id.slice(rule_id.lastIndexOf('/') + 1)}</code> ${sayPlaced(error)}</li>`,
      )}${more > 0 && html`<li>and ${more} more</li>`}</ul></details>`
  }`
}
