/** The page of faults: tabs, filter, groups, and a positive statement when there is nothing. */
import { formatInstant } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type Together, togetherText } from '#shared/central/ui/cost-words.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { fold } from '#shared/central/ui/pager.ts'
import { moment, momentAge } from '#shared/central/ui/moment.ts'
import { runPanel } from '#shared/central/ui/run-panel.ts'
import { countWords } from '#shared/central/ui/words.ts'
import { BUILDINGS_PATH } from '#shared/central/ui/links.ts'
import { filterFold, laneTabs } from './fault-filter.ts'
import { ANY_AGE_DAYS, type FaultQuery, faultsHref } from './fault-list.ts'
import { faultTable } from './fault-table.ts'
import { type BulkAction, type FaultsDone, type FaultsModel, hereOf, type LastRun } from './faults-model.ts'
import { endedToast, snoozeList } from './snoozes.view.ts'
import { isUnconfirmed } from './unconfirmed-card.ts'
import { say, sayCount, sayCountOf, words } from '#shared/node/http/language.ts'

const DONE_WORDS: Record<BulkAction, string> = words({
  ack: 'acknowledged',
  unack: 'no longer acknowledged',
  snooze: 'snoozed',
  wake: 'no longer snoozed',
  assign: 'assigned',
  unassign: 'no longer assigned',
})
const UNDO: Partial<Record<BulkAction, BulkAction>> = { ack: 'unack', snooze: 'wake', assign: 'unassign' }
export const faultsBody = (model: FaultsModel): Html => html`<h1>Faults</h1>
${model.done && toast(model.done, model)}
${model.ended !== undefined && endedToast({ ...formOf(model), snooze_id: model.ended })}
${laneTabs(model)}
${filterFold(model)}
${truncatedNotice(model)}
${model.query.lane === 'silenced' && snoozeList({ ...formOf(model), snoozes: model.snoozes, severalBuildings: model.buildings.length > 1 })}
${model.groups.length ? html`${faultTable(model)}${model.query.lane === 'faults' && html`<p class="muted">Urgent: open, and of high priority, about comfort, or begun within the last day and not of low priority. Chronic: open otherwise.</p>`}<p><a href="${csvHref(model.query)}">CSV of this list</a></p>` : allQuiet(model)}
${togetherSection(model)}
${model.groups.length > 0 && html`<section class="card"><h2>Who looked, and when</h2>${looked(model)}</section>`}
${runPanel(model.runs)}`

const formOf = ({ csrf, mayOperate, query }: FaultsModel) => ({ csrf, mayOperate, back: faultsHref(query) })

/** The whole list, whatever part of it the page shows. */
const csvHref = (query: FaultQuery): string => faultsHref({ ...query, page: 1 }).replace('/faults', '/faults.csv')

/** What was just done to several faults, with the button that takes it back. */
const toast = ({ action, count, finding_ids, scope }: FaultsDone, { query, csrf, mayOperate }: FaultsModel): Html => {
  const undo = UNDO[action]
  return html`<div class="toast" role="status"><p>${sayCountOf(count, 'fault')} ${DONE_WORDS[action]}.</p>
${
  mayOperate &&
  undo !== undefined &&
  finding_ids.length > 0 &&
  html`<form method="post" action="/faults/bulk">${csrfField(csrf)}<input type="hidden" name="back" value="${faultsHref(query)}">${scope !== undefined && html`<input type="hidden" name="scope" value="${scope}">`}${finding_ids.map(
    id => html`<input type="hidden" name="fault-${id}" value="${id}">`,
  )}<button name="action" value="${undo}">Undo</button></form>`
}</div>`
}

const truncatedNotice = ({ truncated, query, here }: FaultsModel): Html | false =>
  truncated !== undefined &&
  html`<p class="notice">Only the newest ${sayCount(truncated.at)} episodes are shown. <a href="${faultsHref({ ...query, before: formatInstant(truncated.oldest) })}">Those before ${moment(truncated.oldest, here)}</a></p>`

/** @param isEnded of a building whose data ended, its last days are meant */
function lastWords(days: number, isEnded: boolean): string {
  if (days === ANY_AGE_DAYS) return say`In all`
  const span = days === 366 ? say`year` : days === 1 ? say`day` : say`${days} days`
  return say`In the last ${span}${isEnded ? say` of its data` : ''}`
}

/** A sum that counts nothing twice, and says so. */
function togetherSection({ together, buildings, dataEnds, query: { days } }: FaultsModel): Html | false {
  const line = (one: Together) =>
    html`<p>${buildings.length > 1 && html`<strong>${one.building.name}</strong>: `}${lastWords(days, dataEnds.has(one.building.building_id))} ${togetherText(one)}.</p>`
  return (
    together.length > 0 &&
    html`<section class="card"><h2>What these cost together</h2>${byBuilding(together.map(line))}
<p class="muted">As far as it is known. Of faults of the same equipment that waste the same energy at the same time only the dearest counts, and silenced ones do not. Some may still be one waste seen at two places, such as a plant and what it serves.</p></section>`
  )
}

/** Nothing to list: say so, say since when that is known, and what could not be looked at. */
function allQuiet(model: FaultsModel): Html {
  const { query } = model
  const narrowed =
    query.state !== undefined ||
    query.priority !== undefined ||
    query.urgency !== undefined ||
    query.equipment !== undefined ||
    query.rule !== undefined ||
    (query.minutes ?? 0) > 0
  const unseen = !model.lastRuns.length && model.boxes.every(({ last_data_at }) => last_data_at === null)
  const quiet = narrowed ? say`Nothing fits this filter.` : unseen ? say`Not looked yet.` : say`All quiet.`
  const nothing = query.lane === 'silenced' ? say`Nothing is silenced.` : quiet
  return html`<section class="card quiet-card"><h2>${nothing}</h2>
${looked(model)}
</section>`
}

/** Lines with one for each building, of which a hub has hundreds: of what has looked those that looked longest ago. */
const LINES_SHOWN = 5

/** The last run and its result: without them an empty list could as well be a failure. */
function looked(model: FaultsModel): Html {
  const { lastRuns, boxes } = model
  const brief = lastRuns.filter(run => run.standing.remarkable.some(isUnconfirmed))
  if (!lastRuns.length && !boxes.length) return html`<p>No run has finished yet, so nothing has been looked at.</p>`
  const longest = boxes.toSorted((a, b) => heardAt(a) - heardAt(b))
  const ofRuns = lastRuns.toSorted((a, b) => a.finished_at - b.finished_at)
  return html`${ofRuns.slice(0, LINES_SHOWN).map(run => runLine(run, model))}${
    ofRuns.length > LINES_SHOWN && othersLater(ofRuns.length - LINES_SHOWN)
  }${longest.slice(0, LINES_SHOWN).map(box => boxLine(box, model))}${
    longest.length > LINES_SHOWN && othersLater(longest.length - LINES_SHOWN)
  }${byBuilding(
    brief.map(
      ({ building_id, standing }) =>
        html`<p><a href="/runs?building=${encodeURIComponent(building_id)}#brief">${sayCountOf(standing.remarkable.filter(isUnconfirmed).length, 'condition')} too brief or too seldom sampled to count</a></p>`,
    ),
  )}`
}

/** A line for each building; the later ones of many are folded. */
const byBuilding = (lines: Html[]): Html =>
  html`${lines.slice(0, LINES_SHOWN)}${lines.length > LINES_SHOWN && fold(sayCountOf(lines.length - LINES_SHOWN, 'other building'), html`${lines.slice(LINES_SHOWN)}`)}`

const othersLater = (count: number): Html =>
  html`<p>and ${sayCountOf(count, 'other')} that looked later: <a href="${BUILDINGS_PATH}">when</a></p>`

const heardAt = ({ last_check_at, last_data_at }: FaultsModel['boxes'][number]): number => last_check_at ?? last_data_at ?? 0

function boxLine({ name, building_id, last_check_at, last_data_at }: FaultsModel['boxes'][number], model: FaultsModel): Html {
  const here = hereOf(building_id, model)
  const data =
    last_data_at === null ? say` and has not sent anything yet` : html`; its last data came ${momentAge(last_data_at, here)}`
  return last_check_at === null
    ? html`<p>The box <strong>${name}</strong> looks for faults itself${data}.</p>`
    : html`<p>The box <strong>${name}</strong> looked for faults ${momentAge(last_check_at, here)}${data}.</p>`
}

function runLine(run: LastRun, model: FaultsModel): Html {
  const { checks, counts, reasons } = run.standing
  const name = model.buildings.find(({ building_id }) => building_id === run.building_id)?.name ?? run.building_id
  return html`<p>${model.buildings.length > 1 && html`<strong>${name}</strong>: `}Last run ${momentAge(run.finished_at, hereOf(run.building_id, model))}: ${sayCountOf(checks, 'check')}: ${countWords(counts, reasons)}${
    run.failed > 0 && html`, <strong>${sayCountOf(run.failed, 'rule')} failed</strong>`
  }. <a href="/runs?building=${encodeURIComponent(run.building_id)}">All runs</a></p>`
}
