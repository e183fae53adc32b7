/** A small line without axes beside a value. Decoration: the value and the link to the plot are beside it. */
import type { PointKind } from '#shared/core/model/model.ts'
import type { Buckets } from '#shared/core/series/series.ts'
import type { Span } from '#shared/core/series/spans.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { stretches } from './plot-trace.ts'

const WIDTH = 160
const HEIGHT = 30
/** Free above and below the line, so that its full width is seen. */
const MARGIN = 3

/** @param gaps stretches that the line does not cross */
export function sparkline(buckets: Buckets, gaps: Span[], kind: PointKind): Html {
  const { count, min, max, mean, last } = buckets
  const runs = stretches({ buckets, gaps })
  const isSwitch = kind !== 'number'
  const [low, high] = isSwitch ? extremesOf(last, last) : extremesOf(min, max)
  const range = high > low ? high - low : 1
  const x = (i: number) => round((i / Math.max(1, count.length)) * WIDTH)
  const y = (value: number) => round(HEIGHT - MARGIN - ((value - low) / range) * (HEIGHT - 2 * MARGIN))
  const through = (order: number[], column: Float64Array) => order.map(i => `${x(i + 0.5)} ${y(column[i]!)}`).join('L')
  // A switch rests at its value until the next one: steps, not slopes.
  const steps = (run: number[]) =>
    `${x(run[0]!)} ${y(last[run[0]!]!)}${run.map(i => `H${x(i)}V${y(last[i]!)}H${x(i + 1)}`).join('')}`
  return html`<svg class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false">${runs.map(
    run =>
      isSwitch
        ? html`<path class="line" d="M${steps(run)}"/>`
        : html`<path class="band" d="M${through(run, max)}L${through(run.toReversed(), min)}Z"/><path class="line" d="M${through(run, mean)}${run.length === 1 && 'h.01'}"/>`,
  )}</svg>`
}

type Count = { at: number; count: number | null }

/**
 * A small line of counts over the last day, as steps.
 *
 * @param counts ascending; a null is no line
 * @param span the whole width, so that a line that began late is short
 */
export function countLine(counts: readonly Count[], { from, to }: Span): Html | false {
  const known = counts.filter(({ count }) => count !== null)
  if (known.length < 2) return false
  const most = known.reduce((top, { count }) => Math.max(top, count!), 1)
  const x = (at: number) => round(((Math.max(at, from) - from) / (to - from)) * WIDTH)
  const y = (count: number) => round(HEIGHT - MARGIN - (count / most) * (HEIGHT - 2 * MARGIN))
  const steps = known.map(({ at, count }, i) => `${i === 0 ? `M${x(at)} ${y(count!)}` : `H${x(at)}V${y(count!)}`}`).join('')
  return html`<svg class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" preserveAspectRatio="none" aria-hidden="true" focusable="false"><path class="line" d="${steps}H${WIDTH}"/></svg>`
}

function extremesOf(lows: Float64Array, highs: Float64Array): [low: number, high: number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of lows) if (value < low) low = value
  for (const value of highs) if (value > high) high = value
  return low > high ? [0, 1] : [low, high]
}

const round = (n: number) => Math.round(n * 10) / 10
