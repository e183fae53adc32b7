/** What stands above the list of faults: its lanes, its filter as a form, and the filter that is set, in words. */
import { PRIORITIES, PRIORITY_WORDS } from '#shared/core/findings/finding.ts'
import { URGENCIES, type Urgency } from '#shared/core/findings/urgency.ts'
import { formatDuration, MINUTE } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import {
  ANY_AGE_DAYS,
  DAYS_CHOICES,
  DEFAULT_QUERY,
  type FaultQuery,
  faultsHref,
  type Grouping,
  GROUPINGS,
  type Lane,
  LANES,
  MINUTES_CHOICES,
  type Sort,
  SORTS,
} from './fault-list.ts'
import type { FaultsModel } from './faults-model.ts'
import { message, say, sayCountOf, words } from '#shared/node/http/language.ts'

const LANE_WORDS: Record<Lane, string> = words({
  faults: 'Equipment faults',
  overrides: 'Overrides',
  data: 'Sensors and data',
  silenced: 'Silenced',
})
const URGENCY_WORDS: Record<Urgency, string> = words({ urgent: 'Urgent', chronic: 'Chronic' })
const GROUPING_WORDS: Record<Grouping, string> = words({
  none: 'nothing',
  equipment: 'equipment',
  fault: 'rule',
  building: 'building',
  priority: 'priority',
})

/** Text of a number of days in the filter. */
const withinWords = (days: number): string =>
  days === ANY_AGE_DAYS ? say`any age` : days === 366 ? say`a year` : sayCountOf(days, 'day')

/** As a choice, and in the line that says what is chosen. */
const SORT_WORDS: Record<Sort, readonly [choice: string, said: string]> = {
  worst: [message`the worst`, message`the worst first`],
  cost: [message`the dearest`, message`the dearest first`],
  oldest: [message`the oldest`, message`the oldest first`],
}

export const laneTabs = ({ query, counts }: FaultsModel): Html =>
  html`<nav class="tabs" aria-label="Kinds of faults"><ul>${LANES.map(
    lane =>
      html`<li><a href="${faultsHref({ ...query, lane, page: 1 })}"${lane === query.lane && html` aria-current="page"`}>${LANE_WORDS[lane]} <span class="count">${counts[lane]}</span></a></li>`,
  )}</ul></nav>`

/** Urgent and chronic faults with their numbers. */
const urgencyChoices = ({ query, urgencies }: FaultsModel): Html | false =>
  query.lane === 'faults' &&
  html`<ul class="choices urgencies">${([undefined, ...URGENCIES] as const).map(one => {
    const { urgency: _urgency, ...rest } = query
    const count = one === undefined ? undefined : urgencies[one]
    return html`<li><a href="${faultsHref({ ...rest, ...(one && { urgency: one }), page: 1 })}"${one === query.urgency && html` aria-current="true"`}>${one === undefined ? say`All` : URGENCY_WORDS[one]}${count !== undefined && html` <span class="count">${count}</span>`}</a></li>`
  })}</ul>`

/**
 * The filter, always open on a desk. On a phone one line says what is chosen, and opens to the choices: faults come first there.
 */
export const filterFold = (model: FaultsModel): Html =>
  html`<details class="fold filter-fold">${filterSummary(model)}
${urgencyChoices(model)}
${filterForm(model)}
${activeFilter(model)}
</details>`

function filterSummary(model: FaultsModel): Html {
  const { days, group, sort } = model.query
  const filtered = filterParts(model).map(([text]) => text)
  const chosen = [
    ...filtered,
    ...(days === DEFAULT_QUERY.days ? [say`within ${withinWords(days)}`] : []),
    ...(group === 'none' ? [] : [say`grouped by ${GROUPING_WORDS[group]}`]),
    say(SORT_WORDS[sort][1]),
  ].join(', ')
  return filtered.length > 0
    ? html`<summary><span><strong>Filtered:</strong> ${chosen}</span></summary>`
    : html`<summary><span>Filter: ${chosen}</span></summary>`
}

/** The filter is a form with GET: it works without script and leaves its state in the address. */
function filterForm({ query, buildings }: FaultsModel): Html {
  const { group, days, sort, state, priority, urgency, building, equipment, rule, minutes = 0 } = query
  return html`<form class="filter" method="get" action="/faults" data-submit-on-change>
<input type="hidden" name="lane" value="${query.lane}">
${select('state', say`State`, state ?? '', [
  ['', say`all`],
  ['active', say`open`],
  ['cleared', say`cleared`],
])}
${select('priority', say`Priority`, String(priority ?? ''), [['', say`all`], ...PRIORITIES.map(p => [String(p), `${p} ${say(PRIORITY_WORDS[p])}`] as const)])}
${select('days', say`Within`, String(days), choicesOf([...DAYS_CHOICES, ANY_AGE_DAYS], days, withinWords))}
${select('minutes', say`In fault for`, String(minutes), choicesOf([...MINUTES_CHOICES], minutes, minutesWords))}
${buildings.length > 1 && select('building', say`Building`, building ?? '', [['', say`all`], ...buildings.map(b => [b.building_id, b.name] as const)])}
${select(
  'group',
  say`Group by`,
  group,
  GROUPINGS.filter(value => value !== 'building' || buildings.length > 1).map(value => [value, GROUPING_WORDS[value]]),
)}
${select(
  'sort',
  say`First`,
  sort,
  SORTS.map(value => [value, say(SORT_WORDS[value][0])]),
)}
${urgency !== undefined && html`<input type="hidden" name="urgency" value="${urgency}">`}
${equipment !== undefined && html`<input type="hidden" name="equipment" value="${equipment}">`}
${rule !== undefined && html`<input type="hidden" name="rule" value="${rule}">`}
<button>Apply</button>
</form>`
}

const minutesWords = (minutes: number): string =>
  minutes === 0 ? say`any time` : say`${formatDuration(minutes * MINUTE)} or more`

/** A link from elsewhere may have a value that the list does not offer. */
const choicesOf = (offered: number[], chosen: number, words: (value: number) => string): [string, string][] =>
  [...new Set([...offered, chosen])].toSorted((a, b) => a - b).map(value => [String(value), words(value)])

const select = (name: string, label: string, chosen: string, options: (readonly [string, string])[]): Html =>
  html`<label>${label} <select name="${name}">${options.map(
    ([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )}</select></label>`

/** Each part of the filter that is set, and the filter without it. */
function filterParts({ query, buildings, equipmentWords, ruleWords }: FaultsModel): [text: string, without: FaultQuery][] {
  const { state, priority, urgency, building, equipment, rule, minutes, days, before } = query
  const parts: [text: string, without: FaultQuery][] = []
  const add = (text: string | undefined, name: keyof FaultQuery) => {
    if (text === undefined) return
    const { [name]: _left, ...rest } = query
    parts.push([text, { ...DEFAULT_QUERY, ...rest, page: 1 }])
  }
  add(state && (state === 'active' ? say`open` : say`cleared`), 'state')
  add(priority && say`priority ${priority}`, 'priority')
  add(urgency && (urgency === 'urgent' ? say`urgent` : say`chronic`), 'urgency')
  add(building && (buildings.find(one => one.building_id === building)?.name ?? building), 'building')
  add(equipment && equipmentWords(equipment), 'equipment')
  add(rule && ruleWords(rule), 'rule')
  add(minutes ? minutesWords(minutes) : undefined, 'minutes')
  add(days === DEFAULT_QUERY.days ? undefined : say`within ${withinWords(days)}`, 'days')
  add(before && say`older ones`, 'before')
  return parts
}

function activeFilter(model: FaultsModel): Html | false {
  const { query } = model
  const parts = filterParts(model)
  if (parts.length === 0) return false
  return html`<p class="chips"><strong>Filtered:</strong> ${parts.map(
    ([text, without]) =>
      html`<a class="chip" href="${faultsHref(without)}">${text} <span aria-hidden="true">×</span><span class="hidden"> remove</span></a> `,
  )}<a class="clear" href="${faultsHref({ ...DEFAULT_QUERY, lane: query.lane, group: query.group, sort: query.sort })}">show all</a></p>`
}
