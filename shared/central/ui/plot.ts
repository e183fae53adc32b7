/**
 * The plot of a fault or of points: an SVG built on the server, so it is there without script, on paper and in a screen reader.
 * One panel for each unit family, one clock for all, fault periods shaded, stretches without data hatched.
 */
import { stretchesWithin } from '#shared/core/findings/fault-time.ts'
import { type FaultStretch } from '#shared/core/findings/finding.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { OverridePeriod } from '#shared/core/priority/override-periods.ts'
import type { UnitSystem } from './measure.ts'
import { formatAxisDay, formatAxisZone, formatClock } from './moment.ts'
import {
  type DrawnTrace,
  drawnTrace,
  type LineName,
  NAME_CHARACTER,
  type NameRow,
  nameRows,
  ROW_HEIGHT,
  rowLength,
  rowsText,
  shortRow,
  type Trace,
  traceFamily,
} from './plot-trace.ts'
import {
  drawPanel,
  hatched,
  LANE,
  laneHeight,
  nameHeight,
  type NamedSurface,
  type Panel,
  type Place,
  stripe,
  type Surface,
} from './plot-panel.ts'
import { timeTicks } from './plot-scale.ts'
import { clipSpans, mergeSpans, type Span } from '#shared/core/series/spans.ts'
import { wallOf } from '#shared/core/time-zone.ts'

/** More lines than this cannot be distinguished. */
export const TRACES_MAX = 6

/** `stretches`: when within it the condition was true. */
export type TimedEpisode = Span & { stretches: readonly FaultStretch[] }

export type Plot = {
  from: number
  to: number
  now: number
  /** End of what can have data by now. */
  until: number
  timezone: string
  system: UnitSystem
  /** At most `TRACES_MAX`. */
  traces: Trace[]
  /** The episode that the page is about; a page of points has none. */
  episode?: TimedEpisode
  /** Other episodes: of the same fault, or of any. */
  others: TimedEpisode[]
  worst_at?: number
  /** By input, when it was overridden; only of those that were. */
  overrides?: { name: LineName; held: OverridePeriod[] }[]
}
/** `names`: most characters of a line of the names at the right end; without it they are short, and a key below has them in full. */
type PlotSize = { width: number; left: number; panel: number; names?: number }
export const WIDE: PlotSize = { width: 960, left: 52, panel: 150, names: 30 }
export const NARROW: PlotSize = { width: 356, left: 36, panel: 120 }

/** Room for the names at the right end: the gap before them, and the least characters. */
const NAME_GAP = 14
const NAME_MIN = 8
/** Where the words of the key begin, behind the sample of their line. */
const KEY_LEFT = 38
const KEY_GAP = 6

const TOP = 18
const GAP = 26
const AXIS = 40
/** The bar is slimmer than its lane, so that what is hatched shows on both sides of it. */
const FAULT_LANE = 14
const FAULT_BAR = 6
const EPISODE_LINE = 2
/** High enough for the name of a slot, and what that name needs. */
const OVERRIDE_BAR = 14
const SLOT_WIDTH = 30
/** Room that one label of the time axis needs. */
const TICK_WIDTH = 62
const YEAR_TICK_WIDTH = 92

/** @param label the accessible name; the summary in words is beside the plot */
export function plotSvg(plot: Plot, size: PlotSize, id: string, label: string): Html {
  const traces = plot.traces.slice(0, TRACES_MAX).map((trace, i) => drawnTrace(trace, i, plot))
  const surface = surfaceOf(plot, traces, size, id)
  const panels = panelsOf(traces, plot.system)
  const places = placesOf(panels, size, surface)
  const bottom = places.reduce((y, { height }) => y + height + GAP, TOP)
  const lanes = overrideLanes(plot, surface, bottom + 10)
  const axis = bottom + LANE + lanes.reduce((sum, { height }) => sum + height, 0)
  const key = size.names === undefined ? keyRows(traces, size) : []
  const height = axis + AXIS + key.reduce((sum, rows) => sum + rows.height, 0)
  const shaded = [...inView(plot, plot.others, 'fault other'), ...inView(plot, plot.episode ? [plot.episode] : [], 'fault')]
  return html`<svg class="plot" viewBox="0 0 ${size.width} ${height}" width="${size.width}" height="${height}" role="img" aria-label="${label}">
<defs><pattern id="${id}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch" d="M0 0V6"/></pattern></defs>
${panels.map((panel, i) => drawPanel(panel, surface, places[i]!, shaded, plot.system))}
${faultLane(plot, shaded, traces, surface, { top: bottom - 8, height: FAULT_LANE })}
${lanes.map(lane => overrideLane(lane, surface))}
${worstLine(plot, surface, axis)}
${timeAxis(plot, surface, axis)}
${drawKey(key, axis + AXIS)}
</svg>`
}

const inView = ({ from, to }: Plot, episodes: TimedEpisode[], kind: string) =>
  episodes.flatMap(({ stretches }) =>
    stretchesWithin(stretches, from, to).map(([first, last]) => ({ span: { from: first, to: last }, kind })),
  )

/** Lanes that fit under a plot; the list beside it has them all. */
function overrideLanes({ overrides = [], from, to }: Plot, surface: NamedSurface, top: number): OverrideLane[] {
  let next = top
  return overrides
    .map(({ name, held }) => ({ name, held: held.filter(one => one.to > from && one.from < to) }))
    .filter(({ held }) => held.length > 0)
    .slice(0, TRACES_MAX)
    .map(({ name, held }) => {
      const height = laneHeight(name, surface)
      next += height
      const shown = held.map(one => ({ ...one, from: Math.max(one.from, from), to: Math.min(one.to, to) }))
      return { name, held: shown, top: next - height, height }
    })
}
type OverrideLane = Place & { name: LineName; held: OverridePeriod[] }

/** Overrides of an input as bars; a bar shows its slot where there is space. */
function overrideLane({ name, held, top, height }: OverrideLane, surface: NamedSurface): Html {
  const middle = top + height / 2
  const bar = { top: middle - OVERRIDE_BAR / 2, height: OVERRIDE_BAR }
  return html`<g>
<path class="grid" d="M${surface.left} ${middle}H${surface.right}"/>
${held.map(
  one =>
    html`${stripe(surface, one, bar, 'override-bar', 2)}${
      surface.x(one.to) - surface.x(one.from) > SLOT_WIDTH &&
      html`<text class="slot" x="${surface.x(one.from) + 4}" y="${middle + 4}">P${one.slot}</text>`
    }`,
)}
${rowsText(surface.rowsOf(name), 'end override-word', surface.right + 6, middle)}
</g>`
}

function surfaceOf(
  { from, to, overrides = [] }: Plot,
  traces: DrawnTrace[],
  { width, left, names }: PlotSize,
  id: string,
): NamedSurface {
  const rowsOf = (name: LineName) => (names === undefined ? shortRow(name) : nameRows(name, names))
  const all = [...traces.map(({ label }) => label), ...overrides.map(({ name }) => name)]
  const longest = Math.max(NAME_MIN, ...all.flatMap(rowsOf).map(rowLength))
  const right = Math.ceil(NAME_GAP + longest * NAME_CHARACTER)
  const scale = (width - left - right) / (to - from)
  return { id, left, right: width - right, x: ms => Math.round((left + (ms - from) * scale) * 10) / 10, rowsOf }
}

function panelsOf(traces: DrawnTrace[], system: UnitSystem): Panel[] {
  const families = Map.groupBy(traces, trace => traceFamily(trace, system))
  const panels = [...families].map(([family, group]) => ({ family, traces: group, switches: family === 'on/off' }))
  return panels.toSorted((a, b) => Number(a.switches) - Number(b.switches))
}

/** A panel is at least as high as the names beside it. */
function placesOf(panels: Panel[], size: PlotSize, surface: NamedSurface): Place[] {
  let top = TOP
  return panels.map(({ switches, traces }) => {
    const sum = (heightOf: typeof nameHeight) => traces.reduce((all, trace) => all + heightOf(trace.label, surface), 0)
    const place = { top, height: switches ? sum(laneHeight) : Math.max(size.panel, sum(nameHeight)) }
    top += place.height + GAP
    return place
  })
}

type KeyRows = { trace: DrawnTrace; name: NameRow[]; height: number }

/** Each line with its whole name; a line of an earlier time says in its own name that it is one. */
const keyRows = (traces: DrawnTrace[], { width }: PlotSize): KeyRows[] =>
  traces.map(trace => {
    const name = nameRows(trace.label, Math.floor((width - KEY_LEFT) / NAME_CHARACTER))
    return { trace, name, height: name.length * ROW_HEIGHT + KEY_GAP }
  })

function drawKey(key: KeyRows[], top: number): Html[] {
  let next = top
  return key.map(({ trace, name, height }) => {
    next += height
    const middle = next - height / 2
    const kind = `trace t${trace.style}${trace.earlierOf === undefined ? '' : ' earlier'}`
    return html`<g><path class="${kind} sample" d="M0 ${middle}h${KEY_LEFT - 8}"/>${rowsText(name, 'key', KEY_LEFT, middle)}</g>`
  })
}

/** Bars when the condition was true, a thin line for the episode that holds them, and hatched, when an input was missing. */
function faultLane(
  { from, to, episode, others }: Plot,
  shaded: { span: Span }[],
  traces: DrawnTrace[],
  surface: Surface,
  place: Place,
): Html {
  const unknown = mergeSpans(traces.flatMap(({ gaps }) => gaps))
  const middle = place.top + place.height / 2
  const bar = { top: middle - FAULT_BAR / 2, height: FAULT_BAR }
  const line = { top: middle - EPISODE_LINE / 2, height: EPISODE_LINE }
  return html`<g>
<path class="grid" d="M${surface.left} ${middle}H${surface.right}"/>
${unknown.map(span => hatched(surface, span, place))}
${clipSpans(episode ? [...others, episode] : others, from, to).map(span => stripe(surface, span, line, 'fault-bar episode', 2))}
${shaded.map(({ span }) => stripe(surface, span, bar, 'fault-bar', 2))}
<text class="end fault-word" x="${surface.right + 6}" y="${middle + 4}">in fault</text>
</g>`
}

const worstLine = ({ worst_at, from, to, timezone }: Plot, { x }: Surface, bottom: number): Html | false =>
  worst_at !== undefined &&
  worst_at >= from &&
  worst_at < to &&
  html`<g><path class="worst" d="M${x(worst_at)} ${TOP - 4}V${bottom}"/><text class="tick" x="${x(worst_at)}" y="${TOP - 7}" text-anchor="middle">worst ${formatClock(worst_at, timezone)}</text></g>`

function timeAxis({ from, to, now, timezone }: Plot, { left, right, x }: Surface, y: number): Html {
  const withYear = wallOf(from, timezone).year !== wallOf(to - 1, timezone).year
  const ticks = timeTicks(from, to, timezone, (right - left) / (withYear ? YEAR_TICK_WIDTH : TICK_WIDTH))
  const words = (at: number, day: boolean) => (day ? formatAxisDay(at, timezone, withYear) : formatClock(at, timezone))
  return html`<g><path class="axis" d="M${left} ${y}H${right}"/>${ticks.map(
    ({ at, day }) =>
      html`<path class="axis" d="M${x(at)} ${y}v4"/><text class="tick${day && ' day'}" x="${x(at)}" y="${y + 16}" text-anchor="middle">${words(at, day)}</text>`,
  )}<text class="zone" x="${left}" y="${y + 34}">${formatAxisZone(from, to, { now, timezone })}</text></g>`
}
