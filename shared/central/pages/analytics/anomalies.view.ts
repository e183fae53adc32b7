/** Anomalies: hours that are unlike the same hours of past weeks, and one point's hours with its usual band. */
import type { Anomaly, ScoredHour } from '#shared/core/analytics/seasonal.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building, Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { formatDuration } from '#shared/core/time.ts'
import { type AnalyticsHead, analyticsHead, analyticsPath, analyticsTabs } from './analytics-frame.ts'
import { formatFigure, formatValue, type DisplayUnit, measureOf } from '#shared/central/ui/measure.ts'
import { formatMoment, type Here, moment, momentAge } from '#shared/central/ui/moment.ts'
import { BAND_SIGMAS, SEASONAL_NARROW, SEASONAL_WIDE, type SeasonalPlot, seasonalSvg } from './seasonal-plot.ts'
import { say, sayCount, sayCountOf } from '#shared/node/http/language.ts'

type AnomalyRow = Anomaly & { point: Point; equipment: string }
type AnomaliesModel = {
  head: AnalyticsHead
  here: Here
  building: Building
  from: number
  to: number
  weeks: number
  least: number
  rows: AnomalyRow[]
  total: number
  pointsScored: number
  notScored: { no_data: number; insufficient_history: number; never_changes: number }
  /** Time of the screening; it is cached for a while. */
  screenedAt: number
  /** The point whose hours are drawn. */
  one: { point: Point; equipment: string; hours: ScoredHour[]; anomalies: Anomaly[] } | undefined
}

/** Result of a trial on published data; `scripts/score DIR --anomalies` repeats it. */
const TRIAL = html`<p>Tried on published labelled data, it flagged 1 of the 11 normal days that it could score (an air handler, 56 days). None of the 27 labelled faulty days could be scored, because those sets are shorter than the four weeks that a comparison needs. It has not yet found a fault that the rules miss, so it is off unless somebody switches it on, and nothing on other pages depends on it.</p>`

/** When nobody switched it on. */
export const screeningOff = (): Html => html`<h1>Anomalies</h1>
${analyticsTabs('anomalies', undefined)}
<section class="card quiet-card"><h2>Anomaly screening is off.</h2>
<p>Set <code>SERVICE_SQL_ANOMALY_SCREENING=1</code> and start again. Every hour of what is measured is then compared with the same hours of the weeks before, when somebody looks at this page.</p>
${TRIAL}</section>`

export const anomaliesBody = (model: AnomaliesModel): Html => html`${analyticsHead(model.head)}
${model.one ? onePoint(model.one, model) : list(model)}
<section class="card"><h2>How this is judged</h2>
<p>The mean of each hour is compared with the same hour of the week in the ${model.weeks} weeks before the first day shown. The score is its distance from their median, in robust standard deviations; from ${sayCount(model.least)} on it is listed. An anomaly is unusual, which is not the same as wrong: holidays are unusual too.</p>
${TRIAL}
<p class="muted">Reckoned ${momentAge(model.screenedAt, model.here)}; what was reckoned is shown for an hour.</p></section>`

const list = (model: AnomaliesModel): Html => html`<p class="lead">${leadWords(model)}</p>
${model.rows.length > 0 && table(model)}
<p class="muted">${coverageWords(model)}</p>`

function leadWords({ rows, total, pointsScored, notScored }: AnomaliesModel): string {
  const looked = pointsScored + notScored.no_data + notScored.insufficient_history + notScored.never_changes
  if (looked === 0) return say`This building has no point that measures something.`
  if (pointsScored === 0) return say`Nothing could be scored.`
  if (total === 0)
    return say`All as usual: ${sayCountOf(pointsScored, 'point')} kept to what ${pointsScored === 1 ? say`it` : say`they`} usually did.`
  const shown = rows.length < total ? say`, the ${sayCount(rows.length)} most unusual of them shown` : ''
  return say`${total === 1 ? say`1 anomaly` : say`${sayCount(total)} anomalies`} among ${sayCountOf(pointsScored, 'point')}${shown}.`
}

function coverageWords({ notScored, weeks }: AnomaliesModel): string {
  const reasons = [
    [notScored.insufficient_history, say`with less than four of the last ${weeks} weeks`],
    [notScored.no_data, say`without data`],
    [notScored.never_changes, say`that did not change in those weeks`],
  ] as const
  const told = reasons.filter(([n]) => n > 0).map(([n, words]) => `${sayCount(n)} ${words}`)
  return told.length > 0 ? say`Points without a score: ${told.join(', ')}.` : ''
}

/** Values are in the canonical unit of the point's role, else in its own. */
const measureFor = ({ role, unit }: Point, { unit_system }: Building): DisplayUnit =>
  measureOf((role === undefined ? undefined : ROLES[role]?.unit) ?? unit, unit_system, role)

const scoreWords = (score: number): string => formatFigure(score, { label: '', scale: 1, offset: 0, decimals: 1 })

const hrefOf = (point_id: string, { head }: AnomaliesModel): string =>
  `${analyticsPath('anomalies')}?${new URLSearchParams({ ...head.query, point: point_id })}`

const table = (model: AnomaliesModel): Html => html`<table class="fleet">
<caption class="hidden">Anomalies, the most unusual first</caption>
<thead><tr><th scope="col">Point</th><th scope="col">Score</th><th scope="col">From</th><th scope="col">Lasted</th><th scope="col">Value</th><th scope="col">Usual</th></tr></thead>
<tbody>${model.rows.map(row => anomalyRow(row, model))}</tbody>
</table>`

function anomalyRow({ point, equipment, from, to, worst }: AnomalyRow, model: AnomaliesModel): Html {
  const measure = measureFor(point, model.building)
  return html`<tr>
<td data-label="Point" class="what"><div><a href="${hrefOf(point.point_id, model)}">${point.name}</a><span class="muted">${equipment}</span></div></td>
<td data-label="Score"><div>${scoreWords(worst.score)}</div></td>
<td data-label="From"><div>${moment(from, model.here)}</div></td>
<td data-label="Lasted"><div>${formatDuration(to - from)}</div></td>
<td data-label="Value"><div>${formatValue(worst.value, measure)}</div></td>
<td data-label="Usual"><div>${formatValue(worst.expected, measure)}<span class="muted">${bandWords(worst, measure)}</span></div></td>
</tr>`
}

function bandWords({ expected, sigma }: ScoredHour, measure: DisplayUnit): string {
  return say`${formatFigure(expected - BAND_SIGMAS * sigma, measure)} to ${formatFigure(expected + BAND_SIGMAS * sigma, measure)}`
}

function onePoint({ point, equipment, hours, anomalies }: NonNullable<AnomaliesModel['one']>, model: AnomaliesModel): Html {
  const { from, to, here, building, head } = model
  const measure = measureFor(point, building)
  const plot: SeasonalPlot = { from, to, now: here.now, timezone: building.timezone, measure, hours, anomalies }
  const label = say`${point.name}, hour by hour, and what is usual`
  return html`<p class="crumbs"><a href="${analyticsPath('anomalies')}?${new URLSearchParams(head.query)}">All points</a></p>
<section class="card"><h2>${point.name}</h2><p class="muted">${equipment}</p>
${
  hours.length > 0
    ? html`<div class="for-wide">${seasonalSvg(plot, SEASONAL_WIDE, 'wide', label)}</div><div class="for-narrow">${seasonalSvg(plot, SEASONAL_NARROW, 'narrow', label)}</div>
<p class="summary">${pointWords(anomalies, measure, here)}</p>
${hourTable(hours, measure, here)}`
    : html`<p>Too little is known of its past weeks to score it.</p>`
}</section>`
}

function pointWords(anomalies: readonly Anomaly[], measure: DisplayUnit, here: Here): string {
  const how = say`The solid line is the mean of each hour, the dashed one the usual; the band is ${BAND_SIGMAS} robust standard deviations wide on either side.`
  const worst = anomalies.toSorted((a, b) => Math.abs(b.worst.score) - Math.abs(a.worst.score))[0]?.worst
  if (!worst) return say`${how} Nothing was unusual.`
  const words = say`${formatValue(worst.value, measure)} at ${formatMoment(worst.at, here)} instead of ${formatValue(worst.expected, measure)}`
  return say`${how} Shaded: ${anomalies.length === 1 ? say`1 anomaly` : say`${sayCount(anomalies.length)} anomalies`}, worst with ${words}.`
}

const hourTable = (
  hours: readonly ScoredHour[],
  measure: DisplayUnit,
  here: Here,
): Html => html`<details class="figures"><summary>The same as a table</summary>
<div class="wide" role="region" aria-label="Hours" tabindex="0"><table>
<thead><tr><th scope="col">Hour</th><th scope="col">Mean</th><th scope="col">Usual</th><th scope="col">Band</th><th scope="col">Score</th></tr></thead>
<tbody>${hours.map(
  hour =>
    html`<tr><th scope="row">${formatMoment(hour.at, here)}</th><td>${formatValue(hour.value, measure)}</td><td>${formatValue(hour.expected, measure)}</td><td>${bandWords(hour, measure)}</td><td>${scoreWords(hour.score)}</td></tr>`,
)}</tbody></table></div></details>`
