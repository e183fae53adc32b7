/** Comfort, running hours, energy and coverage of a building: what takes longer to find than the page may take. */
import { figuresOf, sumOperations } from '#shared/core/analytics/operations.ts'
import type { Building, Point } from '#shared/core/model/model.ts'
import { dayStart, nextDay } from '#shared/core/time-zone.ts'
import { DAY } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { analyticsPath, formatHours, formatShare } from '#shared/central/pages/analytics/analytics-frame.ts'
import { buildingHref } from '#shared/central/ui/links.ts'
import { formatRoleValue } from '#shared/central/ui/measure.ts'
import { NARROW, plotSvg, WIDE } from '#shared/central/ui/plot.ts'
import { plotSummary } from '#shared/central/ui/plot-words.ts'
import { trendsHref } from '#shared/central/ui/trends-link.ts'
import { pointsPlot } from './points-plot.ts'
import { readPointValues } from './point-values.ts'
import { message, say, sayCount } from '#shared/node/http/language.ts'

type Stores = Pick<CentralContext, 'model' | 'historian' | 'analytics' | 'rules'>

const DAYS = 7
/** About one bucket for each two pixels of the wide plot. */
const BUCKETS = 480
const METERS_MAX = 2
/** Outdoor temperature, of a weather station first. */
const WEATHER_ROLES = ['wx_oa_t', 'oa_t']
const TITLE = message`Comfort, running hours, energy and coverage`

/** Stands on the page until the figures come; without script it leads to the page of operations. */
export const figuresLater = ({ building_id }: Building): Html =>
  html`<section class="card" id="figures" hx-get="${buildingHref(building_id)}/figures" hx-trigger="load" hx-target="#figures" hx-swap="outerHTML"><h2>${say(TITLE)}</h2>
<p><a href="${operationsHref(building_id)}">Running hours and comfort</a>, <a href="/coverage?${new URLSearchParams({ building: building_id })}">which rules can run</a></p></section>`

const operationsHref = (building_id: string) => `${analyticsPath('operations')}?${new URLSearchParams({ building: building_id })}`

/** @param until the present, or when the building's data ended. @throws Problem as analytics do */
export async function figuresSection(
  context: Stores,
  building: Building,
  until: number,
  now: number,
  gone: AbortSignal,
): Promise<Html> {
  const { building_id, timezone, unit_system } = building
  const from = dayStart(until - (DAYS - 1) * DAY, timezone)
  const [found, coverage, energy] = await Promise.all([
    // To the end of the day, so that the page that is opened again asks for the same.
    context.analytics.operations({ building_id, from, to: nextDay(until, timezone) }, gone),
    context.rules.coverage(building_id),
    energyPlot(context, building, { from, to: until + 1 }, now),
  ])
  const figures = figuresOf(sumOperations(found.days.map(({ sums }) => sums)))
  const canRun = coverage.lines.filter(({ missing }) => missing.length === 0)
  const covered = new Set(canRun.map(({ equipment_id }) => equipment_id)).size
  const { zone_t_mean } = figures
  return html`<section class="card" id="figures"><h2>${say(TITLE)}</h2>
<dl class="facts">
<div><dt>Rooms in comfort</dt><dd>${formatShare(figures.comfort_share)}</dd></div>
<div><dt>Mean room temperature</dt><dd>${zone_t_mean === null ? '–' : formatRoleValue('zone_t', zone_t_mean, unit_system)}</dd></div>
<div><dt>Running, all equipment</dt><dd>${formatHours(figures.running_hours)}</dd></div>
<div><dt>Rules that can run</dt><dd>${sayCount(canRun.length)} of ${sayCount(coverage.lines.length)}</dd></div>
<div><dt>Equipment with a rule</dt><dd>${sayCount(covered)} of ${sayCount(context.model.equipment(building_id).length)}</dd></div>
</dl>
<p class="muted">The last ${DAYS} days. <a href="${operationsHref(building_id)}">By equipment and day</a>, <a href="/coverage?${new URLSearchParams({ building: building_id })}">which rules can run</a></p>
${energy}</section>`
}

/** The power of the meters over the outdoor temperature; nothing where no meter is. */
async function energyPlot(
  { model, historian }: Stores,
  building: Building,
  span: { from: number; to: number },
  now: number,
): Promise<Html | false> {
  const { building_id } = building
  const kinds = new Map(model.equipment(building_id).map(one => [one.equipment_id, one.equipment_type]))
  const points = model.points(building_id).filter(({ gone }) => !gone)
  const isMeter = ({ role, equipment_id }: Point) => role === 'kw' && kinds.get(equipment_id ?? '') === 'meter'
  const meters = points.filter(isMeter).slice(0, METERS_MAX)
  if (meters.length === 0) return false
  const outside = WEATHER_ROLES.flatMap(role => points.find(point => point.role === role) ?? []).slice(0, 1)
  const shown = [...meters, ...outside]
  const values = await readPointValues({ historian }, shown, span, BUCKETS)
  const labelled = values.map(value => ({ value, name: { words: value.point.name } }))
  const plot = pointsPlot({ building, values: labelled, episodes: [], visits: {}, span, now, until: span.to - 1 })
  if (plot.traces.length === 0) return false
  const summary = plotSummary(plot)
  const label = say`Electric power and outdoor temperature. ${summary}`
  return html`<h3>Electric power${outside.length > 0 && say` and outdoor temperature`}</h3>
<div class="for-wide">${plotSvg(plot, WIDE, 'energy-wide', label)}</div><div class="for-narrow">${plotSvg(plot, NARROW, 'energy-narrow', label)}</div>
<p><a href="${trendsHref({ building: building_id, points: shown.map(({ point_id }) => point_id), days: DAYS })}">Open in Trends</a></p>`
}
