/** The page of one point: its value, its last days, who commands it and who reads it. */
import { pointObject } from '#shared/core/bacnet/object-name.ts'
import { priorityOf } from '#shared/core/findings/finding.ts'
import { activeSlot } from '#shared/core/priority/array-snapshot.ts'
import { RELINQUISHED } from '#shared/core/priority/priority-levels.ts'
import { formatDuration, formatInstant, SECOND } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { overrideIcon, priorityIcon, stateIcon } from '#shared/central/ui/icons.ts'
import { breadcrumbs, equipmentLink, findingHref, pointHref, readHref, ruleHref } from '#shared/central/ui/links.ts'
import { roleWords, unitLabel } from '#shared/central/ui/measure.ts'
import { formatDay, momentAge, momentNow } from '#shared/central/ui/moment.ts'
import { NARROW, plotSvg, WIDE } from '#shared/central/ui/plot.ts'
import { plotSummary, plotTable } from '#shared/central/ui/plot-words.ts'
import { trendsHref } from '#shared/central/ui/trends-link.ts'
import { shareOf, titleOf } from '#shared/central/ui/words.ts'
import { POINT_DAYS, type PointModel } from './point-model.ts'
import { POINT_STATE_WORDS, pointValueText } from './point-values.ts'
import { say, sayCount, sayCountOf } from '#shared/node/http/language.ts'

/** @param mayRead whether the reader may ask the device itself */
export const pointBody = (
  model: PointModel,
  mayRead: boolean,
): Html => html`${breadcrumbs(model.building, model.equipment, model.now.point.name)}
<h1>${model.now.point.name}</h1>
${valueNow(model)}
${model.open.map(
  one =>
    html`<p class="p${priorityOf(one.severity)}">${priorityIcon(priorityOf(one.severity))} <a href="${findingHref(one.finding_id)}">${titleOf(one)}</a></p>`,
)}
${plotSection(model)}
<div class="columns">
<div>${arraySection(model)}${rulesSection(model)}</div>
<div>${factsSection(model, mayRead)}${statisticsSection(model)}${exportSection(model)}</div>
</div>
<p class="as-of">As of ${momentNow(model.here)} <a href="${pointHref(model.now.point)}">Refresh</a></p>`

function valueNow({ now: { point, value, at, state }, building, here, array, dataEnd }: PointModel): Html {
  const words = value === null && at !== null ? say`No usable value` : pointValueText(point, value, building.unit_system)
  return html`<p class="figure">${words}${array?.overridden && html` ${overrideIcon(`P${activeSlot(array)}`)}`}</p>
<p>${stateIcon(state, POINT_STATE_WORDS[state])} <span class="muted">${at === null ? say`no sample is stored` : momentAge(at, here)}${dataEnd !== undefined && say`; the building's data ended on ${formatDay(dataEnd, here)}`}</span></p>`
}

function plotSection({ plot, now: { point }, days }: PointModel): Html {
  const summary = plot.traces.length > 0 ? plotSummary(plot) : ''
  const label = say`Plot of ${point.name}. ${summary}`
  return html`<section class="card" id="plot"><div class="row"><h2>${days === 1 ? say`Last 24 hours` : say`Last ${days} days`}</h2><ul class="choices">${POINT_DAYS.map(
    choice =>
      html`<li><a href="${pointHref(point)}?days=${choice}#plot"${choice === days && html` aria-current="true"`}>${choice === 1 ? say`24 hours` : say`${choice} days`}</a></li>`,
  )}</ul></div>
${
  plot.traces.length > 0
    ? html`<div class="for-wide">${plotSvg(plot, WIDE, 'wide', label)}</div><div class="for-narrow">${plotSvg(plot, NARROW, 'narrow', label)}</div>
<p class="summary">${summary} <a href="${trendsHref({ building: point.building_id, points: [point.point_id], days })}">Open in Trends</a></p>
${plotTable(plot)}`
    : html`<p>No usable value is stored for this time.</p>`
}
</section>`
}

function factsSection({ now: { point, nominalMs }, equipment }: PointModel, mayRead: boolean): Html {
  const { role, unit, kind, source, poll_secs, edge_id, point_id, states } = point
  const object = pointObject(source)
  const read = mayRead && readHref(source.protocol, source.address)
  const lines: (readonly [string, Html | string])[] = [
    [say`Equipment`, equipment ? equipmentLink(equipment, equipment.name) : say`none`],
    [say`Role`, role === undefined ? say`none: no rule reads it` : html`<code>${role}</code> ${roleWords(role)}`],
    [say`Unit`, kind === 'number' ? unitLabel(unit) : kind === 'bool' ? unitLabel('bool') : say`state`],
    ...(object === undefined ? [] : [[say`BACnet object`, html`<code>${object}</code>`] as const]),
    [say`Address`, html`<code>${source.protocol} ${source.address}</code>`],
    [
      say`Polled`,
      poll_secs === undefined ? say`about every ${formatDuration(nominalMs)}` : say`every ${formatDuration(poll_secs * SECOND)}`,
    ],
    ...(edge_id === undefined ? [] : [[say`Box`, html`<code>${edge_id}</code>`] as const]),
    [say`Id`, html`<code>${point_id}</code>`],
    ...(states === undefined ? [] : [[say`States`, states.map((text, i) => `${i} ${text}`).join(', ')] as const]),
  ]
  return html`<section class="card"><h2>About this point</h2><dl class="values">${lines.map(([term, what]) => html`<div><dt>${term}</dt><dd>${what}</dd></div>`)}</dl>
${read && html`<p><a href="${read}">Read its properties from the device now</a></p>`}</section>`
}

function statisticsSection({ statistics, now: { point }, building, days }: PointModel): Html | false {
  if (!statistics) return false
  const { min, max, mean, samples, coverage } = statistics
  const words = (value: number) => pointValueText(point, value, building.unit_system)
  const figures: (readonly [string, string])[] = [
    ...(point.kind === 'number'
      ? ([
          [say`Least`, words(min)],
          [say`Mean`, words(mean)],
          [say`Greatest`, words(max)],
        ] as const)
      : []),
    ...(point.kind === 'bool' ? ([[say`On`, shareOf(mean)]] as const) : []),
    [say`Samples`, sayCount(samples)],
    [say`Time with data`, shareOf(Math.max(0, coverage))],
  ]
  return html`<section class="card"><h2>In ${days === 1 ? say`24 hours` : say`${days} days`}</h2><dl class="values">${figures.map(([term, what]) => html`<div><dt>${term}</dt><dd>${what}</dd></div>`)}</dl></section>`
}

function arraySection({ array, meanings, now: { point }, building, here }: PointModel): Html | false {
  if (!array) return false
  const active = activeSlot(array)
  const words = (value: number) => (Number.isNaN(value) ? say`not read` : pointValueText(point, value, building.unit_system))
  return html`<section class="card"><h2>Priority array</h2>
<p class="muted">As the visit of ${momentAge(array.t, here)} saw it. <a href="/overrides">All overrides</a></p>
<table class="slots"><thead><tr><th scope="col">Slot</th><th scope="col">Name</th><th scope="col">Value</th></tr></thead>
<tbody>${array.slots.map((value, i) => {
    const commands = active === i + 1
    return html`<tr${commands && html` class="commands"`}><th scope="row">P${i + 1}</th><td>${say(meanings[i]!.name)}</td><td>${value === null ? say`empty` : words(value)}${commands && say` (commands)`}</td></tr>`
  })}
<tr${active === RELINQUISHED && html` class="commands"`}><th scope="row">–</th><td>Relinquish default</td><td>${words(array.fallback)}${active === RELINQUISHED && say` (counts)`}</td></tr>
</tbody></table></section>`
}

function rulesSection({ rules, now: { point }, building }: PointModel): Html {
  if (point.role === undefined) {
    const asked = new URLSearchParams({ building: building.building_id, equipment: point.equipment_id ?? '' })
    return html`<section class="card"><h2>Who reads it</h2><p>No rule: the point has no role. <a href="/points?${asked}">Give it one</a></p></section>`
  }
  if (rules.length === 0)
    return html`<section class="card"><h2>Who reads it</h2><p>No rule for this kind of equipment reads its role.</p></section>`
  return html`<section class="card"><h2>Who reads it</h2><p>${sayCountOf(rules.length, 'rule')} for this kind of equipment.</p>
<ul class="log">${rules.map(({ id, title }) => html`<li><a href="${ruleHref(id, building.building_id)}">${say(title)}</a> <span class="muted">${id}</span></li>`)}</ul></section>`
}

function exportSection({ now: { point }, plot: { from, to } }: PointModel): Html | false {
  if (point.equipment_id === undefined) return false
  const { building_id, equipment_id, point_id } = point
  const span = { from: formatInstant(from), to: formatInstant(to) }
  const href = (format: string) =>
    `/api/fdd/series?${new URLSearchParams({ building_id, equipment_id, point_id, ...span, format })}`
  return html`<section class="card"><h2>Export</h2><p>The time shown as <a href="${href('csv')}">CSV</a> or <a href="${href('json')}">JSON</a>.</p></section>`
}
