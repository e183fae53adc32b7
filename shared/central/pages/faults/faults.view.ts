/** The page of faults: tabs, filter, groups, and a positive statement when there is nothing. */
import { type Finding, PRIORITIES, PRIORITY_WORDS, type RuleResult } from '#shared/core/findings/finding.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { isUnconfirmed } from './unconfirmed-card.ts'
import type { Building } from '#shared/core/model/model.ts'
import { countResults } from '#shared/core/runs/run-summary.ts'
import { formatDuration, formatInstant } from '#shared/core/time.ts'
import { costText, gapsText, rangeText, type Together, togetherText } from '#shared/central/ui/cost-words.ts'
import {
  ANY_AGE_DAYS,
  DAYS_CHOICES,
  type FaultGroup,
  type FaultQuery,
  type FaultRow,
  faultsHref,
  GROUPINGS,
  LANES,
  SORTS,
  type Lane,
} from './fault-list.ts'
import { equipmentLink } from '#shared/central/ui/links.ts'
import { overrideIcon, priorityIcon } from '#shared/central/ui/icons.ts'
import { formatDay, type Here, hereIn, moment, momentAge } from '#shared/central/ui/moment.ts'
import { type UnitSystem } from '#shared/central/ui/measure.ts'
import { formatCount, countOf } from '#shared/core/number-text.ts'
import { inUnitsOf } from '#shared/central/ui/measure-text.ts'
import { type RunPanel, runPanel } from '#shared/central/ui/run-panel.ts'
import { countWords, stateWords, titleOf } from '#shared/central/ui/words.ts'

/** Results and gaps of the last run of one building. */
export type LastRun = {
  building_id: string
  finished_at: number
  failed: number
  results: Pick<RuleResult, 'rule_id' | 'equipment_id' | 'status' | 'reason'>[]
}
export type FaultsModel = {
  query: FaultQuery
  here: Here
  groups: FaultGroup[]
  /** Rows per tab under the same filter. */
  counts: Record<Lane, number>
  /** Set when more episodes overlap the window than one page takes: how many it took, and before when the others began. */
  truncated?: { at: number; oldest: number }
  /** By building, when its data ended; absent for a building with present data. */
  dataEnds: ReadonlyMap<string, number>
  buildings: Building[]
  equipmentName: (finding: { building_id: string; equipment_id: string }) => string
  lastRuns: LastRun[]
  /** The cost of the listed faults, where it is known; empty where a filter is set. */
  together: Together[]
  runs: RunPanel
  /** On a hub: the boxes whose findings arrive here, and the time of their last message. */
  boxes: { name: string; building_id: string; last_data_at: number | null }[]
}

const LANE_WORDS: Record<Lane, string> = { faults: 'Equipment faults', data: 'Sensors and data', silenced: 'Silenced' }

export const faultsBody = (model: FaultsModel): Html => html`<h1>Faults</h1>
${tabs(model)}
${filterForm(model)}
${truncatedNotice(model)}
${model.groups.length ? faultTable(model) : allQuiet(model)}
${togetherSection(model)}
${model.groups.length > 0 && html`<section class="card"><h2>Who looked, and when</h2>${looked(model)}</section>`}
${runPanel(model.runs)}`

const truncatedNotice = ({ truncated, query, here }: FaultsModel): Html | false =>
  truncated !== undefined &&
  html`<p class="notice">Of the episodes that fit, the newest ${formatCount(truncated.at)} are shown. <a href="${faultsHref({ ...query, before: formatInstant(truncated.oldest) })}">The older ones, before ${moment(truncated.oldest, here)}</a></p>`

/** @param isEnded of a building whose data ended, its last days are meant */
function lastWords(days: number, isEnded: boolean): string {
  if (days === ANY_AGE_DAYS) return 'In all'
  const span = days === 366 ? 'year' : days === 1 ? 'day' : `${days} days`
  return `In the last ${span}${isEnded ? ' of its data' : ''}`
}

/** Text of a number of days in the filter. */
const withinWords = (days: number): string =>
  days === ANY_AGE_DAYS ? 'any age' : days === 366 ? 'a year' : days === 1 ? '1 day' : `${days} days`

const tabs = ({ query, counts }: FaultsModel): Html =>
  html`<nav class="tabs" aria-label="Kinds of faults"><ul>${LANES.map(
    lane =>
      html`<li><a href="${faultsHref({ ...query, lane })}"${lane === query.lane && html` aria-current="page"`}>${LANE_WORDS[lane]} <span class="count">${counts[lane]}</span></a></li>`,
  )}</ul></nav>`

/** The filter is a form with GET: it works without script and leaves its state in the address. */
function filterForm({ query, buildings }: FaultsModel): Html {
  const { group, days, sort, state, priority, building, equipment, before } = query
  const filtered = [state, priority, building, equipment, before].some(value => value !== undefined)
  return html`<form class="filter" method="get" action="/faults" data-submit-on-change>
<input type="hidden" name="lane" value="${query.lane}">
${select(
  'group',
  'Group by',
  group,
  GROUPINGS.map(value => [value, value]),
)}
${select(
  'days',
  'Within',
  String(days),
  // A link from elsewhere may look further back than the list offers.
  [...new Set([...DAYS_CHOICES, ANY_AGE_DAYS, days])].toSorted((a, b) => a - b).map(value => [String(value), withinWords(value)]),
)}
${select(
  'sort',
  'First',
  sort,
  SORTS.map(value => [value, value === 'worst' ? 'the worst' : 'the dearest']),
)}
${select('state', 'State', state ?? '', [
  ['', 'all'],
  ['active', 'open'],
  ['cleared', 'cleared'],
])}
${select('priority', 'Priority', String(priority ?? ''), [['', 'all'], ...PRIORITIES.map(p => [String(p), `${p} ${PRIORITY_WORDS[p]}`] as const)])}
${buildings.length > 1 && select('building', 'Building', building ?? '', [['', 'all'], ...buildings.map(b => [b.building_id, b.name] as const)])}
${equipment !== undefined && html`<input type="hidden" name="equipment" value="${equipment}">`}
<button>Apply</button>
${filtered && html`<a class="clear" href="${faultsHref({ lane: query.lane, group, days, sort })}">Filtered${equipment !== undefined && html` to ${equipment}`}: show all</a>`}
</form>`
}

const select = (name: string, label: string, chosen: string, options: (readonly [string, string])[]): Html =>
  html`<label>${label} <select name="${name}">${options.map(
    ([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )}</select></label>`

/** A sum that counts nothing twice, and says so. */
const togetherSection = ({ together, buildings, dataEnds, query: { days } }: FaultsModel): Html | false =>
  together.length > 0 &&
  html`<section class="card"><h2>What these cost together</h2>${together.map(
    one =>
      html`<p>${buildings.length > 1 && html`<strong>${one.building.name}</strong>: `}${lastWords(days, dataEnds.has(one.building.building_id))} ${togetherText(one)}.</p>`,
  )}
<p class="muted">As far as it is known. Of faults of the same equipment that waste the same energy at the same time only the dearest counts, and silenced ones do not. Some may still be one waste seen at two places, such as a plant and what it serves.</p></section>`

/** Whether any fault of the list costs something that is known: else there is no column for it. */
const hasCost = ({ groups }: FaultsModel): boolean => groups.some(({ rows }) => rows.some(({ cost }) => cost !== undefined))

/** One table, so that columns stay in line from group to group. */
const faultTable = (model: FaultsModel): Html => html`<table class="faults">
<thead><tr><th scope="col">Priority</th><th scope="col">Fault</th><th scope="col">Equipment</th><th scope="col">Since</th><th scope="col">In fault</th>${hasCost(model) && html`<th scope="col">Cost</th>`}<th scope="col">State</th></tr></thead>
${model.groups.map(group => groupRows(group, model))}
</table>`

const groupRows = ({ title, rows }: FaultGroup, model: FaultsModel): Html => html`<tbody>
<tr class="group"><th scope="rowgroup" colspan="${hasCost(model) ? 7 : 6}"><h2>${title} <span class="count">${rows.length}</span></h2></th></tr>
${rows.map(row => faultRow(row, model))}
</tbody>`

function faultRow({ finding, note, priority, episodes, inFaultMs, cost }: FaultRow, model: FaultsModel): Html {
  const here = hereOf(finding.building_id, model)
  const dataEnd = model.dataEnds.get(finding.building_id)
  const loud = finding.state === 'active' && dataEnd === undefined && note.ack === 'unacked' ? 'unacked' : 'quiet'
  return html`<tr class="${loud} ${finding.state}">
<td data-label="Priority" class="p${priority}"><div>${priorityIcon(priority)}</div></td>
<td data-label="Fault" class="what"><div><a href="/faults/${encodeURIComponent(finding.finding_id)}">${titleOf(finding)}</a><span class="sentence">${sentenceOf(finding, model)}</span>${finding.relabelled_by !== undefined && overrideIcon('this fault is an override')}</div></td>
<td data-label="Equipment"><div>${equipmentLink(finding, model.equipmentName(finding))}</div></td>
<td data-label="Since"><div>${moment(finding.from, here)}</div></td>
<td data-label="In fault"><div>${formatDuration(inFaultMs)}${episodes > 1 && html` <span class="muted">in ${episodes} episodes</span>`}</div></td>
${hasCost(model) && html`<td data-label="Cost"><div>${cost ? html`${costText(cost, systemOf(finding, model))} <span class="muted">${rangeText(cost, cost.unit, systemOf(finding, model))}</span>` : html`<span class="muted">${gapsText(finding.not_priced ?? [])}</span>`}</div></td>`}
<td data-label="State"><div>${stateWords(finding, note, dataEnd === undefined ? undefined : formatDay(dataEnd, here))}</div></td>
</tr>`
}

const systemOf = ({ building_id }: Finding, { buildings }: FaultsModel): UnitSystem =>
  buildings.find(building => building.building_id === building_id)?.unit_system ?? 'si'

const sentenceOf = (finding: Finding, model: FaultsModel): string =>
  inUnitsOf(finding.evidence.sentence, systemOf(finding, model), Object.keys(finding.evidence.inputs))

/** Nothing to list: say so, say since when that is known, and what could not be looked at. */
function allQuiet(model: FaultsModel): Html {
  const { query } = model
  const narrowed = query.state !== undefined || query.priority !== undefined || query.equipment !== undefined
  const unseen = !model.lastRuns.length && model.boxes.every(({ last_data_at }) => last_data_at === null)
  const quiet = narrowed ? 'Nothing fits this filter.' : unseen ? 'Not looked yet.' : 'All quiet.'
  const nothing = query.lane === 'silenced' ? 'Nothing is silenced.' : quiet
  return html`<section class="card quiet-card"><h2>${nothing}</h2>
${looked(model)}
</section>`
}

/** The last run and its result: without them an empty list could as well be a failure. */
function looked(model: FaultsModel): Html {
  const { lastRuns, boxes } = model
  const brief = lastRuns.filter(run => run.results.some(isUnconfirmed))
  if (!lastRuns.length && !boxes.length) return html`<p>No run has finished yet, so nothing has been looked at.</p>`
  return html`${lastRuns.map(run => runLine(run, model))}${boxes.map(
    ({ name, building_id, last_data_at }) =>
      html`<p>The box <strong>${name}</strong> looks for faults itself${last_data_at === null ? ' and has not sent anything yet' : html`; its last data came ${momentAge(last_data_at, hereOf(building_id, model))}`}.</p>`,
  )}${brief.map(
    ({ building_id, results }) =>
      html`<p><a href="/runs?building=${encodeURIComponent(building_id)}#brief">${countOf(results.filter(isUnconfirmed).length, 'condition')} too brief or too seldom sampled to count</a></p>`,
  )}`
}

function runLine(run: LastRun, model: FaultsModel): Html {
  const { counts, reasons } = countResults(run.results)
  const name = model.buildings.find(({ building_id }) => building_id === run.building_id)?.name ?? run.building_id
  return html`<p>${model.buildings.length > 1 && html`<strong>${name}</strong>: `}Last run ${momentAge(run.finished_at, hereOf(run.building_id, model))}: ${countOf(run.results.length, 'check')}: ${countWords(counts, reasons)}${
    run.failed > 0 && html`, <strong>${countOf(run.failed, 'rule')} failed</strong>`
  }. <a href="/runs?building=${encodeURIComponent(run.building_id)}">All runs</a></p>`
}

const hereOf = (building_id: string, { here, buildings }: FaultsModel): Here =>
  hereIn(here, buildings.find(building => building.building_id === building_id)?.timezone ?? here.timezone)
