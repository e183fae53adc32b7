/** The plot that zooms: the server's drawing, which script replaces by one over the same time that can be dragged and pinched. */
import type { Building, Point } from '#shared/core/model/model.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { PlotAssets } from '#shared/central/ui/frame.ts'
import { measureOf } from '#shared/central/ui/measure.ts'
import { NARROW, type Plot, plotSvg, type TimedEpisode, WIDE } from '#shared/central/ui/plot.ts'
import { endedWords, type LineName, nameText } from '#shared/central/ui/plot-trace.ts'
import type { Here } from '#shared/central/ui/moment.ts'
import { plotSummary } from '#shared/central/ui/plot-words.ts'

type ZoomPlot = {
  building: Building
  /** The time, and what the server draws. */
  plot: Plot
  lines: readonly { point: Point; name: LineName; ended_at?: number | undefined }[]
  /** The page whose words follow the time that is shown, its query without the time; without it only links to Trends follow. */
  path?: string
  /** Each line is also drawn as it was so many ms earlier. */
  earlier?: { shift: number; mark: string } | undefined
  /** What the drawing is called to those who do not see it; the summary follows. */
  name: string
}

/** The host element with the server's drawing in it, and room for the legend that comes with script; `zoomScripts` belongs on the same page. */
export function zoomPlot({ building, plot, lines, path, earlier, name }: ZoomPlot): Html {
  const { building_id, timezone } = building
  const label = `${name}. ${plot.traces.length > 0 ? plotSummary(plot) : ''}`
  return html`<div id="trends" data-url="/api/fdd/series" data-building="${building_id}" data-points="${lines.map(({ point }) => point.point_id).join(',')}" data-from="${plot.from}" data-to="${plot.to}" data-timezone="${timezone}" data-shift="${earlier?.shift ?? 0}"${path !== undefined && html` data-path="${path}"`}${plot.episode && html` data-faults="${faultsOf(plot, plot.episode)}"`}${plot.worst_at !== undefined && html` data-worst="${plot.worst_at}"`} data-series="${seriesOf(building, lines, earlier?.mark, { now: plot.now, timezone })}">${
    plot.traces.length > 0
      ? html`<div class="for-wide">${plotSvg(plot, WIDE, 'wide', label)}</div><div class="for-narrow">${plotSvg(plot, NARROW, 'narrow', label)}</div>`
      : html`<p>No usable value is stored for this time.</p>`
  }<div class="legend-room" aria-hidden="true">${Array.from({ length: 1 + lines.length * (earlier ? 2 : 1) }, () => html`<i></i>`)}</div></div>`
}

/** All modules are named here, so that a browser asks for them at once and not one after the other. */
export const zoomScripts = ({ uplotCss, uplot, trends, trendParts }: PlotAssets): Html =>
  html`<link rel="stylesheet" href="${uplotCss}"><script src="${uplot}" defer></script>${[...trendParts, trends].map(module => html`<script type="module" src="${module}"></script>`)}`

/** What the script needs of each line: its name, and how to show its values. */
function seriesOf({ unit_system }: Building, lines: ZoomPlot['lines'], mark: string | undefined, here: Here): string {
  const series = lines.map(({ point: { point_id, unit, kind, role, states }, name, ended_at }) => {
    const { label: shown, ...measure } = measureOf(unit, unit_system, role)
    return {
      point_id,
      label: nameText(name),
      kind,
      unit: kind === 'bool' ? 'on/off' : kind === 'enum' ? 'state' : shown,
      ...measure,
      states,
      ...(ended_at !== undefined && { ended_at, ended: endedWords(ended_at, here) }),
    }
  })
  const before =
    mark === undefined
      ? []
      : series.map(({ ended_at: _end, ended: _words, ...one }, i) => ({
          ...one,
          label: `${lines[i]!.name.words} ${mark}`,
          earlier: true,
        }))
  return JSON.stringify([...series, ...before])
}

/** The stretches that the server shades, those of the page's own episode marked. */
function faultsOf({ others }: Plot, own: TimedEpisode): string {
  const spansOf = ({ stretches }: TimedEpisode, isOwn: boolean) => stretches.map(([from, to]) => ({ from, to, own: isOwn }))
  return JSON.stringify([...others.flatMap(one => spansOf(one, false)), ...spansOf(own, true)])
}
