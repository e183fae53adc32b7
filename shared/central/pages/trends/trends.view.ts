/** The page of trends. The server draws the plot; script replaces the drawing by one that zooms. */
import { formatInstant } from '#shared/core/time.ts'
import { wallOf } from '#shared/core/time-zone.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { PlotAssets } from '#shared/central/ui/frame.ts'
import { equipmentLink, pointHref } from '#shared/central/ui/links.ts'
import { fold } from '#shared/central/ui/pager.ts'
import { type Plot, TRACES_MAX } from '#shared/central/ui/plot.ts'
import { plotSummary, plotTable } from '#shared/central/ui/plot-words.ts'
import { zoomPlot, zoomScripts } from './zoom-plot.ts'
import { COMPARE, type Compare, TREND_DAYS, trendsHref, TRENDS_PATH } from '#shared/central/ui/trends-link.ts'
import { COMPARED_MAX } from '#shared/central/trend-choice.ts'
import { type TrendReader, savedSection, saveForm } from './saved.view.ts'
import type { TrendsModel } from './trends-model.ts'
import { say, sayCountOf, words } from '#shared/node/http/language.ts'

const DAYS_WORDS: Record<(typeof TREND_DAYS)[number], string> = words({
  1: '24 hours',
  7: '7 days',
  30: '30 days',
  366: 'A year',
})
/** Equipment of one level that is seen at once. */
const BRANCHES_SHOWN = 30
/** A year of minutes has more samples than a line has pixels. */
const CSV_POINTS = 20_000

/** @param reader who looks, and the token of the reader's forms */
export const trendsBody = (model: TrendsModel, assets: PlotAssets, reader: TrendReader): Html => html`<h1>Trends</h1>
${timeForm(model)}
${model.plot ? plotSection(model, { plot: model.plot, assets, reader }) : html`<section class="card quiet-card"><h2>No point is chosen yet</h2><p>Search for points below, or go down the equipment to them. A point, an equipment and a fault also have a link here.</p></section>`}
${pointsSection(model)}
${savedSection(model, reader)}`

function timeForm({ query, span, building, buildings }: TrendsModel): Html {
  const choice = (days: (typeof TREND_DAYS)[number]) =>
    html`<li><a href="${trendsHref({ ...query, days, from: undefined, to: undefined })}"${query.from === undefined && query.days === days && html` aria-current="true"`}>${DAYS_WORDS[days]}</a></li>`
  const wall = (ms: number) => localText(ms, building.timezone)
  return html`<div id="trend-time"><ul class="choices">${TREND_DAYS.map(choice)}</ul>
<form class="filter" method="get" action="${TRENDS_PATH}">
${
  buildings.length > 1 && query.points.length === 0
    ? html`<label>Building<select name="building">${buildings.map(one => html`<option value="${one.building_id}"${one.building_id === query.building && html` selected`}>${one.name}</option>`)}</select></label>`
    : html`<input type="hidden" name="building" value="${query.building}">`
}
<input type="hidden" name="points" value="${query.points.join(',')}">${query.compare && html`<input type="hidden" name="compare" value="${query.compare}">`}
<label>From<input type="datetime-local" name="from" value="${wall(span.from)}" required></label>
<label>To<input type="datetime-local" name="to" value="${wall(span.to)}" required></label>
<button>Show</button>
</form></div>`
}

/** `2026-11-20T14:00`, as a field of a form has it. */
function localText(ms: number, timezone: string): string {
  const { year, month, day, hour, minute } = wallOf(ms, timezone)
  const two = (n: number) => String(n).padStart(2, '0')
  return `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}`
}

type PlotParts = { plot: Plot; assets: PlotAssets; reader: TrendReader }

function plotSection(model: TrendsModel, { plot, assets, reader }: PlotParts): Html {
  const { building, span, query, chosen } = model
  const summary = plot.traces.length > 0 ? plotSummary(plot) : ''
  const earlier = query.compare && { shift: model.shift, mark: COMPARE[query.compare].mark }
  return html`<section class="card" id="plot">
${zoomPlot({ building, plot, lines: chosen, path: trendsHref({ building: query.building, points: query.points, compare: query.compare }), earlier, name: say`Plot` })}
<div id="trend-words">${moves(model)}${comparing(model)}
<p class="summary">${summary}</p>
${plot.traces.length > 0 && plotTable(plot)}
<p><a href="/api/fdd/series?${new URLSearchParams({ building_id: building.building_id, point_ids: chosen.map(({ point }) => point.point_id).join(','), from: formatInstant(span.from), to: formatInstant(span.to), max_points: String(CSV_POINTS), format: 'csv' })}">CSV of this time</a> <button type="button" data-png hidden>PNG of this plot</button></p>
${saveForm(stateFields(model), reader)}</div>
</section>
${zoomScripts(assets)}`
}

/** The same points earlier, later, and over twice the time. */
function moves({ query, span: { from, to } }: TrendsModel): Html {
  const length = to - from
  const href = (start: number, end: number) =>
    trendsHref({ ...query, q: undefined, from: formatInstant(start), to: formatInstant(end) })
  const links = [
    [say`Earlier`, from - length / 2, to - length / 2],
    [say`Later`, from + length / 2, to + length / 2],
    [say`Zoom out`, from - length / 2, to + length / 2],
  ] as const
  return html`<ul class="choices">${links.map(([text, start, end]) => html`<li><a href="${href(start, end)}">${text}</a></li>`)}</ul>`
}

/** The same time before, drawn over the present one. */
function comparing({ query, chosen }: TrendsModel): Html | false {
  if (chosen.length > COMPARED_MAX)
    return html`<p class="muted">At most ${COMPARED_MAX} points are compared with a day or a week before.</p>`
  const choice = (compare: Compare | undefined, words: string) =>
    html`<li><a href="${trendsHref({ ...query, q: undefined, compare })}"${query.compare === compare && html` aria-current="true"`}>${words}</a></li>`
  return html`<p class="muted">Compare with the same time</p><ul class="choices">${choice(undefined, say`nothing`)}${Object.entries(COMPARE).map(([name, { words, mark }]) => choice(name as Compare, `${words} (${mark})`))}</ul>`
}

function pointsSection(model: TrendsModel): Html {
  const { chosen, query, siblings, found } = model
  const without = (point_id: string) => trendsHref({ ...query, points: query.points.filter(one => one !== point_id) })
  const full = chosen.length >= TRACES_MAX
  return html`<section class="card" id="points"><h2>Points</h2>
${
  chosen.length > 0 &&
  html`<table class="tried"><thead><tr><th scope="col">Trace</th><th scope="col">Point</th><th scope="col">Equipment</th><th scope="col">Remove</th></tr></thead><tbody>${chosen.map(
    ({ point, name, equipment }) => html`<tr>
<td data-label="Trace"><div><strong>${name.words}</strong>${name.code !== undefined && html` <code>${name.code}</code>`}</div></td>
<td data-label="Point"><div><a href="${pointHref(point)}">${point.name}</a></div></td>
<td data-label="Equipment"><div>${equipment ? equipmentLink(equipment, equipment.name) : say`none`}</div></td>
<td data-label="Remove"><div><a href="${without(point.point_id)}">Remove<span class="hidden"> ${name.words}</span></a></div></td></tr>`,
  )}</tbody></table>`
}
${
  full
    ? html`<p class="muted">More than ${TRACES_MAX} lines cannot be told apart. Remove one to add another.</p>`
    : html`<form class="filter" role="search" aria-label="Add points" method="get" action="${TRENDS_PATH}">${stateFields(model)}<label>Add points: name, role or address<input type="search" name="q" value="${query.q ?? ''}" maxlength="200"></label><button>Search</button></form>
${
  found &&
  (found.length > 0
    ? addList(
        found.map(({ id, title, detail }) => ({ point_id: id, title, detail })),
        model,
      )
    : html`<p>No point has “${query.q}” in its name, role or address.</p>`)
}
${
  siblings.length > 0 &&
  html`<details><summary>Other points of the same equipment</summary>${addList(
    siblings.map(({ point_id, name, role }) => ({ point_id, title: name, detail: role ?? say`no role` })),
    model,
  )}</details>`
}
${treeList(model)}`
}
</section>`
}

/** The equipment that is looked into, with the way back up to all; each step is a link. */
function treeList(model: TrendsModel): Html {
  const { query, tree } = model
  const into = (of: string | undefined) => `${trendsHref({ ...query, q: undefined, of })}#points`
  const crumbs = [
    html`<a href="${into(undefined)}">All equipment</a>`,
    ...tree.path.map(one => html`<a href="${into(one.equipment_id)}">${one.name}</a>`),
  ]
  const rows = tree.below.map(
    ({ equipment, points }) =>
      html`<li><a href="${into(equipment.equipment_id)}"><strong>${equipment.name}</strong> <span class="muted">${sayCountOf(points, 'point')}</span></a></li>`,
  )
  const rest = rows.slice(BRANCHES_SHOWN)
  const points = tree.points
    .filter(({ point_id }) => !query.points.includes(point_id))
    .map(({ point_id, name, role }) => ({ point_id, title: name, detail: role ?? say`no role` }))
  return html`<details${(query.of !== undefined || query.points.length === 0) && html` open`}><summary>Points by equipment</summary>
${tree.path.length > 0 && html`<p class="crumbs">${crumbs.map((crumb, i) => html`${i > 0 && html` <span aria-hidden="true">›</span> `}${crumb}`)}</p>`}
${rows.length > 0 && html`<ul class="hits">${rows.slice(0, BRANCHES_SHOWN)}</ul>`}${rest.length > 0 && fold(sayCountOf(rest.length, 'other'), html`<ul class="hits">${rest}</ul>`)}
${points.length > 0 && addList(points, model)}${rows.length + tree.points.length === 0 && html`<p class="muted">Nothing below it.</p>`}
</details>`
}

/** The present state as hidden fields, so that a search keeps it. */
function stateFields({ query: { building, points, days, from, to, compare } }: TrendsModel): Html {
  const fields = Object.entries({
    building,
    points: points.join(','),
    compare,
    ...(from === undefined ? { days: String(days) } : { from, to }),
  })
  return html`${fields.map(([name, value]) => value !== undefined && value !== '' && html`<input type="hidden" name="${name}" value="${value}">`)}`
}

const addList = (points: { point_id: string; title: string; detail: string }[], { query }: TrendsModel): Html =>
  html`<ul class="hits">${points
    .filter(({ point_id }) => !query.points.includes(point_id))
    .map(
      ({ point_id, title, detail }) =>
        html`<li><a href="${trendsHref({ ...query, points: [...query.points, point_id], compare: query.points.length < COMPARED_MAX ? query.compare : undefined })}"><strong>Add ${title}</strong> <span class="muted">${detail}</span></a></li>`,
    )}</ul>`
