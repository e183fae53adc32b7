/** One point's hours against the same hours of past weeks: the line, its usual band, and where it left the band. */
import type { Anomaly, ScoredHour } from '#shared/core/analytics/seasonal.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { formatFigure, type DisplayUnit } from '#shared/central/ui/measure.ts'
import { formatAxisDay, formatAxisZone, formatClock } from '#shared/central/ui/moment.ts'
import { stripe, type Surface } from '#shared/central/ui/plot-panel.ts'
import { timeTicks, valueTicks } from '#shared/central/ui/plot-scale.ts'

/** The band is this many standard deviations wide on either side. */
export const BAND_SIGMAS = 3

export type SeasonalPlot = {
  from: number
  to: number
  now: number
  timezone: string
  measure: DisplayUnit
  /** In time order; values in the unit that `measure` begins from. */
  hours: readonly ScoredHour[]
  anomalies: readonly Anomaly[]
}
type SeasonalSize = { width: number; left: number; height: number }
export const SEASONAL_WIDE: SeasonalSize = { width: 960, left: 52, height: 220 }
export const SEASONAL_NARROW: SeasonalSize = { width: 356, left: 40, height: 180 }

const TOP = 18
const RIGHT = 12
const AXIS = 40
/** Room that one label of the time axis needs. */
const TICK_WIDTH = 62
const round = (n: number) => Math.round(n * 10) / 10

export function seasonalSvg(plot: SeasonalPlot, { width, left, height }: SeasonalSize, id: string, label: string): Html {
  const { from, to, measure, anomalies } = plot
  const right = width - RIGHT
  const surface: Surface = { id, left, right, x: ms => round(left + ((ms - from) / (to - from)) * (right - left)) }
  const shown = plot.hours.map(hour => scaledHour(hour, measure))
  const ticks = valueTicks(
    Math.min(...shown.map(({ value, low }) => Math.min(value, low))),
    Math.max(...shown.map(({ value, high }) => Math.max(value, high))),
    4,
  )
  const [least, most] = [ticks[0]!, ticks.at(-1)!]
  const y = (value: number) => round(TOP + height - ((value - least) / (most - least)) * height)
  const figures: DisplayUnit = { label: '', scale: 1, offset: 0, decimals: Math.min(2, Math.max(...ticks.map(decimalsOf))) }
  const axis = TOP + height
  return html`<svg class="plot" viewBox="0 0 ${width} ${axis + AXIS}" width="${width}" height="${axis + AXIS}" role="img" aria-label="${label}">
<rect class="field" x="${left}" y="${TOP}" width="${right - left}" height="${height}"/>
${anomalies.map(span => stripe(surface, span, { top: TOP, height }, 'fault', 2))}
${ticks.map(tick => html`<path class="grid" d="M${left} ${y(tick)}H${right}"/><text class="tick" x="${left - 5}" y="${y(tick) + 4}" text-anchor="end">${formatFigure(tick, figures)}</text>`)}
<text class="family" x="${left}" y="${TOP - 5}">${measure.label || 'value'}</text>
${runsOf(shown).map(run => drawRun(run, surface, y))}
${timeAxis(plot, surface, axis)}
</svg>`
}

type Shown = { at: number; to: number; value: number; low: number; high: number; expected: number }

function scaledHour({ at, to, value, expected, sigma }: ScoredHour, { scale, offset }: DisplayUnit): Shown {
  const show = (n: number) => n * scale + offset
  return {
    at,
    to,
    value: show(value),
    expected: show(expected),
    low: show(expected - BAND_SIGMAS * sigma),
    high: show(expected + BAND_SIGMAS * sigma),
  }
}

/** Hours that follow each other: a line never crosses a gap. */
function runsOf(hours: readonly Shown[]): Shown[][] {
  const runs: Shown[][] = []
  for (const hour of hours) {
    const last = runs.at(-1)
    if (last && last.at(-1)!.to === hour.at) last.push(hour)
    else runs.push([hour])
  }
  return runs
}

function drawRun(run: readonly Shown[], { x }: Surface, y: (value: number) => number): Html {
  const through = (hours: readonly Shown[], of: (hour: Shown) => number) =>
    hours.map(hour => `${x((hour.at + hour.to) / 2)} ${y(of(hour))}`).join('L')
  const dot = run.length === 1 && 'h.01'
  return html`<path class="band t2" d="M${through(run, ({ high }) => high)}L${through(run.toReversed(), ({ low }) => low)}Z"/><path class="trace t2" d="M${through(run, ({ expected }) => expected)}${dot}"/><path class="trace t1" d="M${through(run, ({ value }) => value)}${dot}"/>`
}

const decimalsOf = (tick: number) => String(tick).split('.')[1]?.length ?? 0

function timeAxis({ from, to, now, timezone }: SeasonalPlot, { left, right, x }: Surface, y: number): Html {
  const ticks = timeTicks(from, to, timezone, (right - left) / TICK_WIDTH)
  const words = (at: number, day: boolean) => (day ? formatAxisDay(at, timezone) : formatClock(at, timezone))
  return html`<path class="axis" d="M${left} ${y}H${right}"/>${ticks.map(
    ({ at, day }) =>
      html`<path class="axis" d="M${x(at)} ${y}v4"/><text class="tick${day && ' day'}" x="${x(at)}" y="${y + 16}" text-anchor="middle">${words(at, day)}</text>`,
  )}<text class="zone" x="${left}" y="${y + 34}">${formatAxisZone(from, to, { now, timezone })}</text>`
}
