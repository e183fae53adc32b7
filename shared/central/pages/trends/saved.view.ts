/** Saved views on the page of trends: the list of all, and the field that names what is shown. */
import type { SavedTrend } from '#shared/core/series/saved-trend.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { formatClock, formatDay, type Here, moment } from '#shared/central/ui/moment.ts'
import { COMPARE, savedTrendHref, trendsHref } from '#shared/central/ui/trends-link.ts'
import type { SavedRow, TrendsModel } from './trends-model.ts'
import { say, sayCountOf, words } from '#shared/node/http/language.ts'

export type TrendReader = { user: User | undefined; csrf: string }

/** @param state what is shown, as hidden fields */
export const saveForm = (state: Html, { user, csrf }: TrendReader): Html =>
  html`<form class="filter" method="post" action="/trends/saved">${csrfField(csrf)}${state}<label>Save this view as<input name="name" required maxlength="100" autocomplete="off"></label>${operatorButton(user, 'save-trend', say`Save view`)}</form>`

export function savedSection({ saved, removed, buildings, query, here }: TrendsModel, { user, csrf }: TrendReader): Html {
  const back = html`${csrfField(csrf)}<input type="hidden" name="back" value="${trendsHref(query)}">`
  const row = (one: SavedRow) => {
    const { trend, building, gone } = one
    return html`<tr>
<td data-label="View"><div>${trend.point_ids.length > 0 ? html`<a href="${savedTrendHref(trend)}">${trend.name}</a>` : trend.name}</div></td>
${buildings.length > 1 && html`<td data-label="Building"><div>${building?.name ?? trend.building_id}</div></td>`}
<td data-label="Shows"><div>${contents(one, { ...here, timezone: building?.timezone ?? here.timezone })}${gone > 0 && html` <span class="muted">${sayCountOf(gone, 'point')} no longer there</span>`}</div></td>
<td data-label="Saved"><div>${moment(trend.created_at, here)} <span class="muted">by ${trend.created_by}</span></div></td>
${user?.mayOperate && html`<td data-label="Change"><div>${changeForms(trend, back)}</div></td>`}</tr>`
  }
  return html`<section class="card" id="saved"><h2>Saved views</h2>
${removed && html`<div class="toast" role="status"><p>${removed.name} is deleted.</p>${user?.mayOperate && html`<form method="post" action="/trends/saved/restore">${back}<input type="hidden" name="trend_id" value="${removed.trend_id}"><button>Undo</button></form>`}</div>`}
${
  saved.length > 0
    ? html`<table class="tried"><thead><tr><th scope="col">View</th>${buildings.length > 1 && html`<th scope="col">Building</th>`}<th scope="col">Shows</th><th scope="col">Saved</th>${user?.mayOperate && html`<th scope="col">Change</th>`}</tr></thead><tbody>${saved.map(row)}</tbody></table>`
    : html`<p>None yet. A view keeps points, time and comparison, and everyone who signs in here sees it.</p>`
}
</section>`
}

/** @param here of the view's own building */
function contents({ trend: { point_ids, span, compare }, fixed }: SavedRow, here: Here): string {
  const last = 'days' in span ? say`the last ${DAYS_WORDS[span.days] ?? say`${span.days} days`}` : ''
  const time = fixed ? say`${dayAndClock(fixed.from, here)} to ${dayAndClock(fixed.to, here)}` : last
  return `${sayCountOf(point_ids.length, 'point')}, ${time}${compare ? say`, compared with ${COMPARE[compare].words}` : ''}`
}
/** The list stands for long, so each instant has its day. */
const dayAndClock = (ms: number, here: Here): string => `${formatDay(ms, here)} ${formatClock(ms, here.timezone)}`
const DAYS_WORDS: Record<number, string> = words({ 1: '24 hours', 366: 'year' })

const changeForms = ({ trend_id, name }: SavedTrend, back: Html): Html => {
  const form = (action: string, fields: Html) =>
    html`<form class="filter" method="post" action="/trends/saved/${action}">${back}<input type="hidden" name="trend_id" value="${trend_id}">${fields}</form>`
  return html`<details><summary>Rename or delete<span class="hidden"> ${name}</span></summary>
${form('rename', html`<label>New name<input name="name" value="${name}" required maxlength="100" autocomplete="off"></label><button>Rename</button>`)}
${form('remove', html`<button>Delete for everyone</button>`)}</details>`
}
