/** The plot in words and as a table, for those who do not see it and for those who want the figures. */
import { stretchesWithin, trueMsOf } from '#shared/core/findings/fault-time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { formatDuration } from '#shared/core/time.ts'
import { formatFigure, type UnitSystem } from './measure.ts'
import { dateOf } from '#shared/core/time-zone.ts'
import { formatClock, formatDay, formatMoment } from './moment.ts'
import { type Plot, TRACES_MAX } from './plot.ts'
import { endedWords, hasEnded, type Trace, traceMeasure, traceName, traceValue } from './plot-trace.ts'
import { clipSpans, gapsOf, mergeSpans, totalLength } from '#shared/core/series/spans.ts'
import { say } from '#shared/node/http/language.ts'

/** Rows of the table: enough to follow a day by half hours. */
const ROWS_MAX = 48

/** One paragraph that says what the plot shows. */
export function plotSummary(plot: Plot): string {
  const { from, to, now, until, timezone, traces, episode, others } = plot
  const here = { now, timezone }
  const trueMs = trueMsOf(stretchesWithin(episode?.stretches ?? [], from, to))
  const elsewhere = trueMsOf(others.flatMap(({ stretches }) => stretchesWithin(stretches, from, to)))
  const sameDay = dateOf(from, timezone) === dateOf(to, timezone)
  const moment = (ms: number) => (sameDay ? formatMoment(ms, here) : `${formatDay(ms, here)} ${formatClock(ms, timezone)}`)
  const gaps = mergeSpans(traces.flatMap(({ buckets, nominalMs }) => gapsOf(buckets, nominalMs, until)))
  const noData = gaps.length ? say` At least one input has no data for ${formatDuration(totalLength(gaps))} (hatched).` : ''
  const named = say`${traces.map(trace => traceName(trace).words).join(', ')} from ${moment(from)} to ${moment(to)}.`
  const shaded = elsewhere > 0 ? say` Faults (shaded) for ${formatDuration(elsewhere)}.` : ''
  const inFault = episode
    ? say` In fault (shaded) for ${formatDuration(trueMs)}${elsewhere > 0 ? say` in this episode and ${formatDuration(elsewhere)} in others` : ''}; worst at ${moment(plot.worst_at!)}.`
    : shaded
  const ended = traces.filter(trace => hasEnded(trace, plot))
  const ends = ended.map(one => `${traceName(one).words}: ${endedWords(one.ended_at, here)}`)
  return `${named}${inFault}${noData}${ends.length ? ` ${ends.join('; ')}.` : ''}${overrideWords(plot)}`
}

/** The lanes below the plot; overrides are in a list of their own. */
function overrideWords({ overrides = [], from, to }: Plot): string {
  const held = overrides.filter(one => clipSpans(one.held, from, to).length > 0)
  return held.length ? say` Visits saw ${held.map(({ name }) => name.words).join(', ')} overridden (lanes below the plot).` : ''
}

type Cell = { mean: number; count: number }

/** Mean values over at most 48 equal parts of the plot, as a table that opens on demand. */
export function plotTable(plot: Plot): Html {
  const traces = plot.traces.slice(0, TRACES_MAX)
  const buckets = traces[0]?.buckets
  if (!buckets) return html``
  const per = Math.max(1, Math.ceil(buckets.count.length / ROWS_MAX))
  const starts = Array.from({ length: Math.ceil(buckets.count.length / per) }, (_, i) => i * per)
  const here = { now: plot.now, timezone: plot.timezone }
  return html`<details class="figures"><summary>The same as a table</summary>
<div class="wide" role="region" aria-label="Values" tabindex="0"><table>
<thead><tr><th scope="col">From</th>${traces.map(trace => html`<th scope="col">${heading(trace, plot.system)}</th>`)}</tr></thead>
<tbody>${starts.map(
    start =>
      html`<tr><th scope="row">${formatMoment(buckets.from + start * buckets.step, here)}</th>${traces.map(
        trace => html`<td>${cell(trace, start, per, plot.system)}</td>`,
      )}</tr>`,
  )}</tbody></table></div></details>`
}

const heading = (trace: Trace, system: UnitSystem): Html => {
  const { label } = traceMeasure(trace, system)
  const { words, code } = traceName(trace)
  return html`${words}${code !== undefined && html` <code>${code}</code>`}${label && `, ${label}`}`
}

function cell(trace: Trace, start: number, per: number, system: UnitSystem): string {
  const { buckets } = trace
  const sum: Cell = { mean: 0, count: 0 }
  for (let i = start; i < Math.min(start + per, buckets.count.length); i++) {
    const samples = buckets.count[i]!
    if (!samples || Number.isNaN(buckets.mean[i])) continue
    sum.mean += buckets.mean[i]! * samples
    sum.count += samples
  }
  if (!sum.count) return say`no data`
  const mean = sum.mean / sum.count
  const measure = traceMeasure(trace, system)
  return measure.label ? formatFigure(mean, measure) : traceValue(trace, mean, system)
}
