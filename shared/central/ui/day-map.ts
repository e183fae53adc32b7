/** Days as cells, one row for each thing: for how much of each day something held. Each row says its sum in words. */
import type { Span } from '#shared/core/series/spans.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { formatAxisDay } from './moment.ts'

/** `shares`: by day, from 0 to 1. */
type DayRow = { title: Html; shares: readonly number[]; words: Html }
/** `days`: each building day of the map; the last may be under way. */
type DayMap = { days: readonly Span[]; timezone: string; rows: readonly DayRow[] }

const HEIGHT = 18
/** Share of a day from which a cell is darker: a trace, two hours, eight, sixteen. */
const STEPS = [0, 2 / 24, 8 / 24, 16 / 24] as const
/** Days that are named below the map. */
const LABELS_MAX = 5

export function dayMap({ days, timezone, rows }: DayMap): Html {
  const width = 100 / days.length
  const percent = (i: number) => Math.round(i * width * 10) / 10
  const cell = (share: number, i: number) =>
    share > 0 &&
    html`<rect class="day d${stepOf(share)}" x="${percent(i)}%" width="${Math.round(width * 9) / 10}%" height="${HEIGHT}"/>`
  const every = Math.ceil(days.length / LABELS_MAX)
  return html`<div class="lanes">${rows.map(
    ({ title, shares, words }) => html`<div class="lane">
<div class="lane-title">${title}</div>
<svg width="100%" height="${HEIGHT}" aria-hidden="true" focusable="false"><rect class="field" width="100%" height="${HEIGHT}"/>${shares.map(cell)}</svg>
<div class="lane-words">${words}</div>
</div>`,
  )}
<div class="lane lane-days"><svg width="100%" height="18" aria-hidden="true" focusable="false">${days.map(
    ({ from }, i) => i % every === 0 && html`<text x="${percent(i)}%" y="14">${formatAxisDay(from, timezone)}</text>`,
  )}</svg></div>
</div>`
}

/** @returns 1 to 4 */
const stepOf = (share: number): number => STEPS.filter(from => share > from).length
