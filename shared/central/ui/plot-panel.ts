/** The panels of a plot: lines that share an axis of values, or switches as bars. */
import { say } from '#shared/node/http/language.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { Buckets } from '#shared/core/series/series.ts'
import { formatFigure, type DisplayUnit, type UnitSystem } from './measure.ts'
import { valueTicks } from './plot-scale.ts'
import { intersectSpans, mergeSpans, type Span } from '#shared/core/series/spans.ts'
import {
  type DrawnTrace,
  type LineName,
  type NameRow,
  ROW_HEIGHT,
  rowsText,
  scaled,
  stretches,
  traceMeasure,
} from './plot-trace.ts'

/** Positions on the drawing, in its own units. */
export type Surface = {
  id: string
  left: number
  right: number
  /** From an instant to its place. */
  x: (ms: number) => number
}
/** With lines that have names; `rowsOf` is a name as it stands beside its line. */
export type NamedSurface = Surface & { rowsOf: (name: LineName) => NameRow[] }
export type Panel = { family: string; traces: DrawnTrace[]; switches: boolean }
export type Place = { top: number; height: number }

/** Height of one switch. */
export const LANE = 20
const BAR = 10

/** A stretch of time as a rectangle. @param least width at which short ones stay visible */
export function stripe({ x }: Surface, span: Span, { top, height }: Place, kind: string, least = 1): Html {
  const width = round(Math.max(x(span.to) - x(span.from), least))
  return html`<rect class="${kind}" x="${x(span.from)}" y="${top}" width="${width}" height="${height}"/>`
}

/** The same, hatched: nothing is known of it. */
export function hatched({ id, x }: Surface, { from, to }: Span, { top, height }: Place): Html {
  return html`<rect x="${x(from)}" y="${top}" width="${round(x(to) - x(from))}" height="${height}" fill="url(#${id}-hatch)"/>`
}

export function drawPanel(
  panel: Panel,
  surface: NamedSurface,
  place: Place,
  shaded: { span: Span; kind: string }[],
  system: UnitSystem,
): Html {
  const { left, right } = surface
  return html`<g>
<rect class="field" x="${left}" y="${place.top}" width="${right - left}" height="${place.height}"/>
${shaded.map(({ span, kind }) => stripe(surface, span, place, kind))}
${intersectSpans(panel.traces.map(({ gaps }) => gaps)).map(span => hatched(surface, span, place))}
<text class="family" x="${left}" y="${place.top - 5}">${panel.family ? say(panel.family) : say`value`}</text>
${panel.switches ? drawSwitches(panel, surface, place.top) : drawLines(panel, surface, place, system)}
</g>`
}

/** Room that the name of a line takes, and that of a lane with it. */
export const nameHeight = (name: LineName, { rowsOf }: Pick<NamedSurface, 'rowsOf'>): number => rowsOf(name).length * ROW_HEIGHT
export const laneHeight = (name: LineName, surface: Pick<NamedSurface, 'rowsOf'>): number =>
  Math.max(LANE, nameHeight(name, surface) + 4)

function drawSwitches({ traces }: Panel, surface: NamedSurface, top: number): Html[] {
  let next = top
  return traces.map(trace => {
    const height = laneHeight(trace.label, surface)
    next += height
    return drawSwitch(trace, surface, next - height / 2)
  })
}

/** On and off as bars: a square wave drawn through means would lie. */
function drawSwitch(trace: DrawnTrace, surface: NamedSurface, middle: number): Html {
  const { from, step, last } = trace.buckets
  const on = stretches(trace).flatMap(run =>
    run
      .map((i, k) => ({ i, next: run[k + 1] ?? i + 1 }))
      .filter(({ i }) => last[i]! >= 0.5)
      .map(({ i, next }) => ({ from: from + i * step, to: from + next * step })),
  )
  const place = { top: middle - BAR / 2, height: BAR }
  const filled = trace.buckets.count.findLastIndex(samples => samples > 0)
  return html`<path class="grid" d="M${surface.left} ${middle}H${surface.right}"/>${mergeSpans(on).map(span => stripe(surface, span, place, `switch t${trace.style}`))}${endMark(trace, surface.x(from + (filled + 1) * step), middle)}${endLabel(trace, surface, middle)}`
}

function drawLines({ family, traces }: Panel, surface: NamedSurface, { top, height }: Place, system: UnitSystem): Html {
  const shown = traces.map(trace => ({ ...trace, buckets: scaled(trace.buckets, traceMeasure(trace, system)) }))
  const ticks = ticksOf(shown, family, height)
  const [low, high] = [ticks[0]!, ticks.at(-1)!]
  const y = (value: number) => round(top + height - ((value - low) / (high - low)) * height)
  const figures: DisplayUnit = { label: '', scale: 1, offset: 0, decimals: decimalsOf(ticks) }
  const ends = shown.map(trace => ({
    trace,
    y: y(trace.buckets.mean.findLast(value => !Number.isNaN(value)) ?? low),
    height: nameHeight(trace.label, surface),
  }))
  return html`${ticks.map(
    tick =>
      html`<path class="grid" d="M${surface.left} ${y(tick)}H${surface.right}"/><text class="tick" x="${surface.left - 5}" y="${y(tick) + 4}" text-anchor="end">${formatFigure(tick, figures)}</text>`,
  )}${shown.map(trace => stretches(trace).map(run => drawStretch(run, trace, surface, y)))}${shown.map(trace => lineEnd(trace, surface, y))}${spread(
    ends,
    top,
    top + height,
  ).map(end => endLabel(end.trace, surface, end.y))}`
}

/** The line of means, and behind it the band from least to greatest where a bucket holds more than one value. */
function drawStretch(
  run: number[],
  { buckets, style, earlierOf }: DrawnTrace,
  { x }: Surface,
  y: (value: number) => number,
): Html {
  const { from, step, min, max, mean } = buckets
  const through = (order: number[], column: Float64Array) =>
    order.map(i => `${x(from + (i + 0.5) * step)} ${y(column[i]!)}`).join('L')
  const wide = run.some(i => Math.abs(y(max[i]!) - y(min[i]!)) > 2)
  const kind = `trace t${style}${earlierOf === undefined ? '' : ' earlier'}`
  const band =
    wide &&
    earlierOf === undefined &&
    html`<path class="band t${style}" d="M${through(run, max)}L${through(run.toReversed(), min)}Z"/>`
  return html`${band}<path class="${kind}" d="M${through(run, mean)}${run.length === 1 && 'h.01'}"/>`
}

/** A bar across the end of a line that no newer value follows; its label says since when. */
const endMark = ({ label, style }: DrawnTrace, x: number, y: number): Html | false =>
  label.note !== undefined && html`<path class="ended t${style}" d="M${x} ${round(y - 7)}v14"/>`

function lineEnd(trace: DrawnTrace, { x }: Surface, y: (value: number) => number): Html | false {
  const { from, step, count, mean } = trace.buckets
  const filled = count.findLastIndex(samples => samples > 0)
  return filled >= 0 && endMark(trace, x(from + (filled + 0.5) * step), y(mean[filled]!))
}

/** A trace is named where it ends, so nobody has to look up a legend. */
const endLabel = (trace: DrawnTrace, { right, rowsOf }: NamedSurface, y: number): Html =>
  rowsText(rowsOf(trace.label), `end t${trace.style}`, right + 6, y)

/** Labels pushed apart where they would cover each other. */
function spread<T extends { y: number; height: number }>(labels: T[], top: number, bottom: number): T[] {
  const placed = labels.toSorted((a, b) => a.y - b.y).map(label => ({ ...label }))
  let end = top
  for (const label of placed) {
    label.y = Math.max(label.y, end + label.height / 2)
    end = label.y + label.height / 2
  }
  end = bottom + ROW_HEIGHT / 2
  for (const label of placed.toReversed()) {
    label.y = Math.min(label.y, end - label.height / 2)
    end = label.y - label.height / 2
  }
  return placed
}

function ticksOf(shown: { buckets: Buckets }[], family: string, height: number): number[] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const { buckets } of shown) {
    for (const value of buckets.min) if (value < low) low = value
    for (const value of buckets.max) if (value > high) high = value
  }
  if (low > high) [low, high] = [0, 1]
  if (family === '%' && low > -2 && high < 105) return [0, 50, 100]
  return valueTicks(low, high, Math.max(2, Math.floor(height / 40)))
}

const decimalsOf = (ticks: number[]) => Math.min(3, Math.max(...ticks.map(tick => String(tick).split('.')[1]?.length ?? 0)))
const round = (n: number) => Math.round(n * 10) / 10
