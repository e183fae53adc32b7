/** Lanes of bars over days: when something held. Each lane says its time in words, so the drawing is for the eye alone. */
import type { Span } from '#shared/core/series/spans.ts'
import { nextDay, dayStart } from '#shared/core/time-zone.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { formatAxisDay } from './moment.ts'

export type SwimLane = { title: Html; bars: readonly Span[]; words: string; kind: 'fault' | 'override' }
type SwimLanes = Span & { timezone: string; lanes: readonly SwimLane[] }

const HEIGHT = 16
const BAR = { top: 3, height: 10 }
/** A bar that is narrower than this share of its lane, percent, is drawn as wide as a mark, CSS pixels: a short episode stays visible. */
const BAR_LEAST = 0.6
const MARK = 3
/** Days that are named below the lanes: more do not fit on a phone. */
const LABELS_MAX = 5

export function swimLanes(model: SwimLanes): Html {
  const { from, to, lanes } = model
  // Percentages instead of a view box: the drawing has the width of the page, and its text is not stretched.
  const percent = (ms: number) => Math.round(((Math.min(Math.max(ms, from), to) - from) / (to - from)) * 1000) / 10
  const days = daysOf(model)
  const grid = days.map(day => html`<line class="grid" x1="${percent(day)}%" x2="${percent(day)}%" y1="0" y2="${HEIGHT}"/>`)
  const bar = (span: Span, kind: string) => {
    const width = percent(span.to) - percent(span.from)
    return html`<rect class="${kind}-bar" x="${percent(span.from)}%" y="${BAR.top}" width="${width < BAR_LEAST ? MARK : `${width.toFixed(1)}%`}" height="${BAR.height}"/>`
  }
  return html`<div class="lanes">${lanes.map(
    ({ title, bars, words, kind }) => html`<div class="lane">
<div class="lane-title">${title}</div>
<svg width="100%" height="${HEIGHT}" aria-hidden="true" focusable="false"><rect class="field" width="100%" height="${HEIGHT}"/>${grid}${bars.map(one => bar(one, kind))}</svg>
<div class="lane-words">${words}</div>
</div>`,
  )}
<div class="lane lane-days"><svg width="100%" height="18" aria-hidden="true" focusable="false">${labelsOf(days).map(
    day => html`<text x="${percent(day)}%" y="14">${formatAxisDay(day, model.timezone)}</text>`,
  )}</svg></div>
</div>`
}

function daysOf({ from, to, timezone }: SwimLanes): number[] {
  const days: number[] = []
  for (let day = nextDay(dayStart(from, timezone), timezone); day < to; day = nextDay(day, timezone)) days.push(day)
  return days
}

/** Evenly spread days, at most `LABELS_MAX`. */
function labelsOf(days: number[]): number[] {
  const every = Math.ceil(days.length / LABELS_MAX)
  return days.filter((_, i) => i % every === 0)
}
