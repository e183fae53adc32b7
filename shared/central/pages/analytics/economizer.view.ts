/** The economizer of one air handler: a sentence, its plot, and which times could be analysed. */
import type { CellKind } from '#shared/core/analytics/economizer-cells.ts'
import type { EconomizerParams, EconomizerResult } from '#shared/core/analytics/economizer.ts'
import type { EconomizerVerdict } from '#shared/core/analytics/economizer-verdict.ts'
import { type FreeCooling, SUITABLE } from '#shared/core/analytics/free-cooling.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building } from '#shared/core/model/model.ts'
import { type AnalyticsHead, analyticsHead, formatHours, formatShare } from './analytics-frame.ts'
import { economizerSvg, SCATTER_NARROW, SCATTER_WIDE } from './economizer-plot.ts'
import { formatRoleValue, formatValue, measureOf, roleWords, type UnitSystem } from '#shared/central/ui/measure.ts'
import { sentenceText } from '#shared/central/ui/measure-text.ts'
import { shareOf } from '#shared/central/ui/words.ts'
import { say, words, sayNumber } from '#shared/node/http/language.ts'

type EconomizerModel = {
  head: AnalyticsHead
  building: Building
  params: EconomizerParams
  /** Undefined: the building has no air handler and nothing else with an outdoor-air damper. */
  unit:
    | {
        equipment_id: string
        name: string
        missing_roles: string[]
        told: { result: EconomizerResult; verdict: EconomizerVerdict } | undefined
      }
    | undefined
}

export const economizerBody = (model: EconomizerModel): Html => html`${analyticsHead(model.head)}
${model.unit ? unitBody(model.unit, model) : html`<section class="card quiet-card"><p>This building has no air handler and no rooftop unit.</p></section>`}`

function unitBody(
  { equipment_id, name, missing_roles, told }: NonNullable<EconomizerModel['unit']>,
  { building, params }: EconomizerModel,
): Html {
  if (!told) {
    const missing = missing_roles.map(role => `${roleWords(role)} (${role})`).join(', ')
    return html`<section class="card quiet-card"><h2>${name}</h2><p>Nothing can be told without ${missing}. <a href="/points?${new URLSearchParams({ building: building.building_id, equipment: equipment_id })}">Give points their roles</a></p></section>`
  }
  const { result, verdict } = told
  const system = building.unit_system
  return html`<section class="card"><h2>${name}</h2>
<p class="lead">${sentenceText(verdict.sentence, system, [])}</p>
${result.bins.length > 0 ? picture(result, name) : html`<p>There is nothing to draw.</p>`}
</section>
<div class="columns">
<section class="card"><h2>What could be told</h2>${hoursTable(result, params, system)}</section>
<section class="card"><h2>Free cooling</h2>${freeCoolingList(result.free_cooling, params, system)}</section>
</div>
${result.free_cooling.bins.length > 0 && temperatureTable(result.free_cooling, system)}`
}

function picture(result: EconomizerResult, name: string): Html {
  const label = say`Share of outdoor air against the position of the outdoor-air damper of ${name}`
  return html`<div class="for-wide">${economizerSvg(result, SCATTER_WIDE, label)}</div><div class="for-narrow">${economizerSvg(result, SCATTER_NARROW, label)}</div>
<p class="summary">${summary(result)}</p>
${binTable(result)}`
}

function summary({ points, hours, fit, residuals }: EconomizerResult): string {
  const thinned = points.length < Math.round(hours.identifiable * 4) ? say`${points.length} of them are drawn. ` : ''
  const line =
    fit &&
    say` A straight line through them is ${formatShare(fit.intercept)} + ${sayNumber(fit.slope, 2)} × position and explains ${shareOf(fit.r2)} of their spread.`
  return say`Each dot is a quarter of an hour of ${formatHours(hours.identifiable)} that are identifiable. ${thinned}Boxes hold the middle half at each position, their bar is the median, the dashed line is ideal. The share is ${formatShare(residuals?.mean_abs ?? null)} from the position on average.${line ?? ''}`
}

const binTable = ({ bins }: EconomizerResult): Html => html`<details class="figures"><summary>The same as a table</summary>
<div class="wide" role="region" aria-label="Share of outdoor air by position" tabindex="0"><table>
<thead><tr><th scope="col">Position</th><th scope="col">Hours</th><th scope="col">5 in 100 below</th><th scope="col">Quarter below</th><th scope="col">Median</th><th scope="col">Quarter above</th><th scope="col">5 in 100 above</th><th scope="col">Median off by</th></tr></thead>
<tbody>${bins.map(
  bin =>
    html`<tr><th scope="row">${formatShare(bin.from)} to ${formatShare(bin.to)}</th><td>${formatHours(bin.hours)}</td>${[bin.low, bin.q1, bin.median, bin.q3, bin.high, bin.residual].map(share => html`<td>${formatShare(share)}</td>`)}</tr>`,
)}</tbody></table></div></details>`

const KIND_WORDS: Record<CellKind, string> = words({
  identifiable: 'Identifiable',
  small_difference: 'Outdoor and return air too alike',
  moving: 'The damper moved too much',
  settling: 'Within a quarter of an hour of a start',
  off: 'The fan was off',
  no_data: 'A needed value was missing',
})

const hoursTable = (
  { hours }: EconomizerResult,
  { dt_min }: EconomizerParams,
  system: UnitSystem,
): Html => html`<dl class="values">
${Object.entries(KIND_WORDS).map(([kind, words]) => html`<div><dt>${words}</dt><dd>${formatHours(hours[kind as CellKind])}</dd></div>`)}
</dl>
<p class="muted">The share is (mixed − return) ÷ (outdoor − return air). It is reckoned where the two airs are at least ${formatValue(dt_min, measureOf('K', system))} apart: closer than that, the error of a sensor outweighs it.</p>`

function freeCoolingList(free: FreeCooling, { high_limit }: EconomizerParams, system: UnitSystem): Html {
  const limit = formatRoleValue('oa_t', high_limit, system)
  const changeover = free.changeover === null ? say`not seen` : formatRoleValue('oa_t', free.changeover, system)
  return html`<dl class="values">
<div><dt>Outdoor air would cool</dt><dd>${formatHours(free.suitable_hours)}</dd></div>
<div><dt>It did: damper open</dt><dd>${formatHours(free.used_hours)}</dd></div>
<div><dt>Missed: cooling with the damper less than half open</dt><dd>${formatHours(free.missed_hours)}</dd></div>
<div><dt>Outdoor air above the high limit of ${limit}</dt><dd>${formatHours(free.above_limit_hours)}</dd></div>
<div><dt>With the damper open all the same</dt><dd>${formatHours(free.above_limit_open_hours)}</dd></div>
<div><dt>Change-over</dt><dd>${changeover}</dd></div>
</dl>
<p class="muted">Outdoor air would cool from ${formatRoleValue('oa_t', SUITABLE.from, system)} to ${formatRoleValue('oa_t', SUITABLE.to, system)} and at least ${formatValue(SUITABLE.closer, measureOf('K', system))} below return air. Change-over is the outdoor temperature above which the damper is less than half open.</p>`
}

const temperatureTable = (
  { bins }: FreeCooling,
  system: UnitSystem,
): Html => html`<section class="card"><details class="figures"><summary>Damper and cooling by outdoor temperature</summary>
<div class="wide" role="region" aria-label="Damper by outdoor temperature" tabindex="0"><table>
<thead><tr><th scope="col">Outdoor air from</th><th scope="col">Running</th><th scope="col">Mean position</th><th scope="col">Cooling valve open</th></tr></thead>
<tbody>${bins.map(
  ({ from, hours, damper, cooling_hours }) =>
    html`<tr><th scope="row">${formatRoleValue('oa_t', from, system)}</th><td>${formatHours(hours)}</td><td>${formatShare(damper)}</td><td>${formatHours(cooling_hours)}</td></tr>`,
)}</tbody></table></div></details></section>`
