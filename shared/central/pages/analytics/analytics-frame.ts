/** The frame of the pages of analytics: their tabs, and the form with subject and span. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building } from '#shared/core/model/model.ts'
import { formatFigure, type DisplayUnit } from '#shared/central/ui/measure.ts'
import { say, words } from '#shared/node/http/language.ts'

export const ANALYTICS_PAGES = ['operations', 'economizer', 'anomalies'] as const
export type AnalyticsPage = (typeof ANALYTICS_PAGES)[number]
export const analyticsPath = (page: AnalyticsPage): string => `/analytics/${page}`

const TITLES: Record<AnalyticsPage, string> = words({
  operations: 'Operations',
  economizer: 'Economizer',
  anomalies: 'Anomalies',
})

/** Values of the form: days of the building, both included. */
type AnalyticsQuery = { building: string; from: string; to: string }
/** A choice of the form beside building and days. */
type Choice = { name: string; label: string; chosen: string; options: (readonly [value: string, text: string])[] }
export type AnalyticsHead = { page: AnalyticsPage; query: AnalyticsQuery; buildings: Building[]; choices: Choice[] }

export const analyticsHead = (head: AnalyticsHead): Html => html`<h1>${TITLES[head.page]}</h1>
${analyticsTabs(head.page, head.query)}
${form(head)}`

/** The links of the tabs contain the present query. */
export const analyticsTabs = (page: AnalyticsPage, query: AnalyticsQuery | undefined): Html =>
  html`<nav class="tabs" aria-label="Analytics"><ul>${ANALYTICS_PAGES.map(
    one =>
      html`<li><a href="${analyticsPath(one)}${query && `?${new URLSearchParams(query)}`}"${one === page && html` aria-current="page"`}>${TITLES[one]}</a></li>`,
  )}</ul></nav>`

/** A form with GET: it works without script and leaves its state in the address. */
function form({ page, query, buildings, choices }: AnalyticsHead): Html {
  const building: Choice = {
    name: 'building',
    label: say`Building`,
    chosen: query.building,
    options: buildings.map(one => [one.building_id, one.name] as const),
  }
  return html`<form class="filter" method="get" action="${analyticsPath(page)}">
${buildings.length > 1 ? select(building) : html`<input type="hidden" name="building" value="${query.building}">`}
${choices.map(select)}
<label>From <input type="date" name="from" value="${query.from}" required></label>
<label>Through <input type="date" name="to" value="${query.to}" required></label>
<button>Show</button>
</form>`
}

const select = ({ name, label, chosen, options }: Choice): Html =>
  html`<label>${label} <select name="${name}">${options.map(
    ([value, text]) => html`<option value="${value}"${value === chosen && html` selected`}>${text}</option>`,
  )}</select></label>`

/** Before any building is known. */
export const noBuilding = (page: AnalyticsPage): Html => html`<h1>${TITLES[page]}</h1>
${analyticsTabs(page, undefined)}
<section class="card quiet-card"><p>No building is known yet.</p></section>`

const HOURS: DisplayUnit = { label: 'h', scale: 1, offset: 0, decimals: 1 }

/** @returns `12.5 h`; an en dash where it is not known */
export const formatHours = (hours: number | null): string => (hours === null ? '–' : `${formatFigure(hours, HOURS)} h`)

/** @returns `93 %`, rounded; an en dash where it is not known */
export const formatShare = (share: number | null): string =>
  share === null ? '–' : `${formatFigure(share * 100, { ...HOURS, decimals: 0 })} %`
