/**
 * The plot of a fault: an SVG built on the server, so it is there without script, on paper and in a screen reader.
 * One panel for each unit family, one clock for all, fault periods shaded, stretches without data hatched.
 */
import { type Html, html } from '../html.ts'
import { ROLES } from '../role.ts'
import type { Buckets } from '../series.ts'
import { conversion } from '../unit.ts'
import { familyOf, formatFigure, type Measure, measureOfRole, type UnitSystem } from './measure.ts'
import { formatClock, formatDay, formatZone } from './moment.ts'
import { clipped, common, gapsOf, joined, type Span, timeTicks, valueTicks } from './plot-scale.ts'

/** More lines than this cannot be told apart. */
export const TRACES_MAX = 6

export type Trace = {
  role: string
  /** In the role's canonical unit. */
  buckets: Buckets
  /** Nominal time between samples, ms. */
  nominalMs: number
}
export type Plot = {
  from: number
  to: number
  now: number
  timezone: string
  system: UnitSystem
  /** At most `TRACES_MAX`. */
  traces: Trace[]
  /** The episode that the page is about, and others of the same fault. */
  episode: Span
  others: Span[]
  worst_at: number
}
export type PlotSize = { width: number; left: number; right: number; panel: number }
export const WIDE: PlotSize = { width: 960, left: 52, right: 120, panel: 150 }
export const NARROW: PlotSize = { width: 356, left: 36, right: 84, panel: 120 }

const LANE = 20
const TOP = 18
const GAP = 26

type Panel = { family: string; traces: { trace: Trace; style: number }[]; lanes: boolean }
type X = (ms: number) => number

/** @param label the accessible name; the summary in words stands beside the plot */
export function plotSvg(plot: Plot, size: PlotSize, id: string, label: string): Html {
  const inner = size.width - size.left - size.right
  const x: X = ms => round(size.left + ((ms - plot.from) / (plot.to - plot.from)) * inner)
  const panels = panelsOf(plot)
  const heights = panels.map(panel => (panel.lanes ? panel.traces.length * LANE : size.panel))
  let y = TOP
  const drawn = panels.map((panel, i) => {
    const part = drawPanel(panel, plot, size, x, y, heights[i]!, id)
    y += heights[i]! + GAP
    return part
  })
  const axis = y + LANE
  const height = axis + 40
  return html`<svg class="plot" viewBox="0 0 ${size.width} ${height}" width="${size.width}" height="${height}" role="img" aria-label="${label}">
<defs><pattern id="${id}-hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch" d="M0 0V6"/></pattern></defs>
${drawn}
${faultLane(plot, size, x, y - 6, id)}
${worstLine(plot, x, axis)}
${timeAxis(plot, size, x, axis)}
</svg>`
}

function panelsOf({ traces, system }: Plot): Panel[] {
  const panels = new Map<string, Panel>()
  for (const [style, trace] of traces.slice(0, TRACES_MAX).entries()) {
    const family = familyOf(trace.role, system)
    const panel = panels.get(family) ?? { family, traces: [], lanes: family === 'on/off' }
    panel.traces.push({ trace, style: style + 1 })
    panels.set(family, panel)
  }
  return [...panels.values()].toSorted((a, b) => Number(a.lanes) - Number(b.lanes))
}

function drawPanel(panel: Panel, plot: Plot, size: PlotSize, x: X, top: number, height: number, id: string): Html {
  const { from, to, now, episode, others } = plot
  const until = Math.min(to, now)
  const gaps = common(panel.traces.map(({ trace }) => gapsOf(trace.buckets, trace.nominalMs, until)))
  const band = (span: Span, kind: string, fill?: string) =>
    html`<rect class="${kind}" x="${x(span.from)}" y="${top}" width="${round(Math.max(x(span.to) - x(span.from), 1))}" height="${height}"${fill !== undefined && html` fill="${fill}"`}/>`
  return html`<g>
<rect class="field" x="${size.left}" y="${top}" width="${size.width - size.left - size.right}" height="${height}"/>
${clipped(others, from, to).map(span => band(span, 'fault other'))}
${clipped([episode], from, to).map(span => band(span, 'fault'))}
${gaps.map(span => band(span, 'no-data', `url(#${id}-hatch)`))}
<text class="family" x="${size.left}" y="${top - 5}">${panel.family || 'value'}</text>
${panel.lanes ? switches(panel, plot, size, x, top) : lines(panel, plot, size, x, top, height)}
</g>`
}

/** Lines on one axis of values, each named at its end. */
function lines(panel: Panel, { system, to, now }: Plot, size: PlotSize, x: X, top: number, height: number): Html {
  const measure = measureOfRole(panel.traces[0]!.trace.role, system)
  const shown = panel.traces.map(({ trace, style }) => ({
    trace,
    style,
    buckets: scaled(trace.buckets, measureOfRole(trace.role, system)),
  }))
  const values = shown.flatMap(({ buckets }) => [...buckets.min, ...buckets.max]).filter(value => !Number.isNaN(value))
  const ticks =
    panel.family === '%' ? percentTicks(values) : valueTicks(least(values), most(values), Math.max(2, Math.floor(height / 40)))
  const [low, high] = [ticks[0]!, ticks.at(-1)!]
  const y = (value: number) => round(top + height - ((value - low) / (high - low)) * height)
  const right = size.width - size.right
  const ends = spread(
    shown.map(({ trace, style, buckets }) => ({ role: trace.role, style, y: y(lastOf(buckets.mean) ?? low) })),
    top + 8,
    top + height,
  )
  const plain: Measure = { ...measure, scale: 1, offset: 0, decimals: decimalsOf(ticks) }
  return html`${ticks.map(
    tick =>
      html`<path class="grid" d="M${size.left} ${y(tick)}H${right}"/><text class="tick" x="${size.left - 5}" y="${y(tick) + 4}" text-anchor="end">${formatFigure(tick, plain)}</text>`,
  )}${shown.map(({ trace, style, buckets }) => stretches(buckets, trace.nominalMs, Math.min(to, now)).map(run => stroke(run, buckets, style, x, y)))}${ends.map(
    end => html`<text class="end t${end.style}" x="${right + 6}" y="${end.y + 4}">${end.role}</text>`,
  )}`
}

/** On and off as bars, one lane for each trace: a square wave through a mean would lie. */
function switches(panel: Panel, { to, now }: Plot, size: PlotSize, x: X, top: number): Html {
  return html`${panel.traces.map(({ trace, style }, lane) => {
    const middle = top + lane * LANE + LANE / 2
    const { from, step, last } = trace.buckets
    const on = stretches(trace.buckets, trace.nominalMs, Math.min(to, now)).flatMap(run =>
      run.map((i, k) => ({ i, next: run[k + 1] ?? i + 1 })).filter(({ i }) => last[i]! >= 0.5),
    )
    const bars = joined(on.map(({ i, next }) => ({ from: from + i * step, to: from + next * step })))
    return html`<path class="grid" d="M${size.left} ${middle}H${size.width - size.right}"/>${bars.map(
      bar =>
        html`<rect class="switch t${style}" x="${x(bar.from)}" y="${middle - 5}" width="${round(Math.max(x(bar.to) - x(bar.from), 1))}" height="10"/>`,
    )}<text class="end t${style}" x="${size.width - size.right + 6}" y="${middle + 4}">${trace.role}</text>`
  })}`
}

/** Bucket numbers of each unbroken stretch: a line never crosses a gap. */
function stretches(buckets: Buckets, nominalMs: number, until: number): number[][] {
  const gaps = gapsOf(buckets, nominalMs, until)
  const runs: number[][] = []
  let open: number[] | undefined
  let gap = 0
  for (const [i, samples] of buckets.count.entries()) {
    if (!samples || Number.isNaN(buckets.mean[i])) continue
    const at = buckets.from + i * buckets.step
    while (gap < gaps.length && gaps[gap]!.to <= at) {
      gap++
      open = undefined
    }
    if (!open) runs.push((open = []))
    open.push(i)
  }
  return runs
}

function stroke(run: number[], { from, step, min, max, mean }: Buckets, style: number, x: X, y: (value: number) => number): Html {
  const at = (i: number) => x(from + (i + 0.5) * step)
  const path = run.map((i, k) => `${k ? 'L' : 'M'}${at(i)} ${y(mean[i]!)}`).join('')
  const dot = run.length === 1 ? 'h.01' : ''
  const wide = run.some(i => Math.abs(y(max[i]!) - y(min[i]!)) > 2)
  const outline = [...run.map(i => `${at(i)} ${y(max[i]!)}`), ...run.toReversed().map(i => `${at(i)} ${y(min[i]!)}`)].join('L')
  return html`${wide && html`<path class="band t${style}" d="M${outline}Z"/>`}<path class="trace t${style}" d="${path}${dot}"/>`
}

/** When the rule said fault, and hatched, when it could not say anything because an input was missing. */
function faultLane({ from, to, now, episode, others, traces }: Plot, size: PlotSize, x: X, y: number, id: string): Html {
  const open = joined(traces.flatMap(({ buckets, nominalMs }) => gapsOf(buckets, nominalMs, Math.min(to, now))))
  const bar = (span: Span, kind: string, fill?: string) =>
    html`<rect class="${kind}" x="${x(span.from)}" y="${y}" width="${round(Math.max(x(span.to) - x(span.from), 2))}" height="10"${fill !== undefined && html` fill="${fill}"`}/>`
  return html`<g>
<path class="grid" d="M${size.left} ${y + 5}H${size.width - size.right}"/>
${clipped([...others, episode], from, to).map(span => bar(span, 'fault-bar'))}
${open.map(span => bar(span, 'field'))}${open.map(span => bar(span, 'no-data', `url(#${id}-hatch)`))}
<text class="end fault-word" x="${size.width - size.right + 6}" y="${y + 9}">in fault</text>
</g>`
}

const worstLine = ({ worst_at, from, to, timezone }: Plot, x: X, bottom: number): Html | false =>
  worst_at >= from &&
  worst_at < to &&
  html`<g><path class="worst" d="M${x(worst_at)} ${TOP - 4}V${bottom}"/><text class="tick" x="${x(worst_at)}" y="${TOP - 7}" text-anchor="middle">worst ${formatClock(worst_at, timezone)}</text></g>`

function timeAxis({ from, to, now, timezone }: Plot, size: PlotSize, x: X, y: number): Html {
  const right = size.width - size.right
  const ticks = timeTicks(from, to, timezone, (right - size.left) / 62)
  const day = (at: number) => formatDay(at, { now, timezone }).replace(/^\w+ /, '')
  return html`<g><path class="axis" d="M${size.left} ${y}H${right}"/>${ticks.map(
    tick =>
      html`<path class="axis" d="M${x(tick.at)} ${y}v4"/><text class="tick${tick.day && html` day`}" x="${x(tick.at)}" y="${y + 16}" text-anchor="middle">${tick.day ? day(tick.at) : formatClock(tick.at, timezone)}</text>`,
  )}<text class="zone" x="${size.left}" y="${y + 34}">${formatZone(from, timezone)}</text></g>`
}

function scaled(buckets: Buckets, { scale, offset }: Measure): Buckets {
  const shown = (column: Float64Array) => column.map(value => value * scale + offset)
  return { ...buckets, min: shown(buckets.min), max: shown(buckets.max), mean: shown(buckets.mean), last: shown(buckets.last) }
}

/** Turns a point's history into its role's canonical unit. @returns undefined when the units do not fit */
export function toCanonical(buckets: Buckets, unit: string, role: string): Buckets | undefined {
  const way = conversion(unit, ROLES[role]?.unit ?? unit)
  return way && scaled(buckets, { ...way, label: '', decimals: 0 })
}

/** Labels at the ends of lines, pushed apart where they would cover each other. */
function spread<T extends { y: number }>(labels: T[], top: number, bottom: number): T[] {
  const space = 14
  const placed = labels.toSorted((a, b) => a.y - b.y).map(label => ({ ...label }))
  for (const [i, label] of placed.entries()) label.y = Math.max(label.y, i ? placed[i - 1]!.y + space : top)
  for (const [i, label] of [...placed.entries()].toReversed()) {
    label.y = Math.min(label.y, i === placed.length - 1 ? bottom : placed[i + 1]!.y - space)
  }
  return placed
}

const percentTicks = (values: number[]) =>
  least(values) < -2 || most(values) > 105 ? valueTicks(least(values), most(values), 3) : [0, 50, 100]
const least = (values: number[]) => values.reduce((a, b) => Math.min(a, b), values[0] ?? 0)
const most = (values: number[]) => values.reduce((a, b) => Math.max(a, b), values[0] ?? 1)
const lastOf = (column: Float64Array) => column.findLast(value => !Number.isNaN(value))
const decimalsOf = (ticks: number[]) => Math.min(3, Math.max(...ticks.map(tick => String(tick).split('.')[1]?.length ?? 0)))
const round = (n: number) => Math.round(n * 10) / 10
