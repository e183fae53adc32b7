/** Share of outdoor air against damper position: what was seen, what is usual at each position, and what would be ideal. */
import type { EconomizerResult } from '#shared/core/analytics/economizer.ts'
import { type Html, html } from '#shared/node/http/html.ts'

type ScatterSize = { width: number; height: number }
export const SCATTER_WIDE: ScatterSize = { width: 960, height: 420 }
export const SCATTER_NARROW: ScatterSize = { width: 356, height: 330 }

const LEFT = 46
const RIGHT = 24
const TOP = 14
const BOTTOM = 42
/** Shares beyond are drawn at the edge: the three temperatures contradict there. */
const LOW = -0.2
const HIGH = 1.2
const SHARES = [-0.2, 0, 0.2, 0.4, 0.6, 0.8, 1, 1.2]
/** Width of a box. */
const BOX = 16
const POSITIONS = [0, 0.25, 0.5, 0.75, 1]

const round = (n: number) => Math.round(n * 10) / 10
const percent = (share: number) =>
  `${Math.round(share * 100)
    .toString()
    .replace('-', '−')} %`

/** @param label the accessible name; the page has the same in words and as a table */
export function economizerSvg(
  { points, bins }: Pick<EconomizerResult, 'points' | 'bins'>,
  { width, height }: ScatterSize,
  label: string,
): Html {
  const [right, bottom] = [width - RIGHT, height - BOTTOM]
  const x = (position: number) => round(LEFT + Math.min(1, Math.max(0, position)) * (right - LEFT))
  const y = (share: number) => round(bottom - ((Math.min(HIGH, Math.max(LOW, share)) - LOW) / (HIGH - LOW)) * (bottom - TOP))
  const box = ({ position, low, q1, median, q3, high }: EconomizerResult['bins'][number]) => {
    const middle = x(position)
    const [a, b] = [round(middle - BOX / 2), round(middle + BOX / 2)]
    return html`<g class="box"><path d="M${middle} ${y(low)}V${y(q1)}M${middle} ${y(q3)}V${y(high)}"/><rect x="${a}" y="${y(q3)}" width="${BOX}" height="${round(Math.max(1, y(q1) - y(q3)))}"/><path class="median" d="M${a} ${y(median)}H${b}"/></g>`
  }
  return html`<svg class="plot" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">
<rect class="field" x="${LEFT}" y="${TOP}" width="${right - LEFT}" height="${bottom - TOP}"/>
${SHARES.map(share => html`<path class="grid" d="M${LEFT} ${y(share)}H${right}"/><text class="tick" x="${LEFT - 5}" y="${y(share) + 4}" text-anchor="end">${percent(share)}</text>`)}
${POSITIONS.map(position => html`<path class="axis" d="M${x(position)} ${bottom}v4"/><text class="tick" x="${x(position)}" y="${bottom + 17}" text-anchor="middle">${percent(position)}</text>`)}
<path class="axis" d="M${LEFT} ${bottom}H${right}"/>
<g class="dots">${points.map(({ damper, share }) => html`<circle cx="${x(damper)}" cy="${y(share)}" r="2.5"/>`)}</g>
<path class="ideal" d="M${x(0)} ${y(0)}L${x(1)} ${y(1)}"/>
${bins.map(box)}
<text class="family" x="${LEFT + 6}" y="${TOP + 14}">share of outdoor air</text>
<text class="tick" x="${right}" y="${height - 6}" text-anchor="end">position of the outdoor-air damper</text>
</svg>`
}
