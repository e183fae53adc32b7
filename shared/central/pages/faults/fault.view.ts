/** The page of one fault: it answers "why is this flagged", in the order in which a technician asks. */
import { addressText } from '#shared/core/bacnet/object-name.ts'
import type { ShownNote } from '#shared/core/findings/snooze.ts'
import { type CauseWeight, type Evidence, type Finding, priorityOf, type RuleResult } from '#shared/core/findings/finding.ts'
import { urgencyOf } from '#shared/core/findings/urgency.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building, Equipment, Point } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import { roleOfColumn } from '#shared/core/priority/array-snapshot.ts'
import type { OverridePeriod } from '#shared/core/priority/override-periods.ts'
import { formatDuration, formatInstant } from '#shared/core/time.ts'
import { faultActions, faultBar } from './fault-actions.ts'
import { costSection } from './fault-cost.ts'
import { endedToast, snoozeNotice } from './snoozes.view.ts'
import { eventsSection, type FaultEvent } from './fault-events.ts'
import type { PlotAssets, User } from '#shared/central/ui/frame.ts'
import { coldWords, dayLists, valueWords } from '#shared/central/pages/settings/baseline-words.ts'
import { buildingHref, equipmentLink, findingHref, pointHref, rulePath } from '#shared/central/ui/links.ts'
import { formatParam, formatRoleValue, measureOfRole, roleWords, unitLabel, type UnitSystem } from '#shared/central/ui/measure.ts'
import { conditionHtml, functionsLegend } from '#shared/central/pages/rules/condition-words.ts'
import { faultStateSign, overrideIcon, priorityIcon } from '#shared/central/ui/icons.ts'
import { formatDay, formatMoment, type Here, moment, momentAge } from '#shared/central/ui/moment.ts'
import type { Plot } from '#shared/central/ui/plot.ts'
import { roleName } from '#shared/central/ui/plot-trace.ts'
import { plotSummary, plotTable } from '#shared/central/ui/plot-words.ts'
import { zoomPlot, zoomScripts } from '#shared/central/pages/trends/zoom-plot.ts'
import { inputWords, sentenceText, shownParams, withValues } from '#shared/central/ui/measure-text.ts'
import { trendsHref } from '#shared/central/ui/trends-link.ts'
import { componentWords, REASON_WORDS, shareOf, SOURCE_WORDS, stateWords, titleOf } from '#shared/central/ui/words.ts'
import { say, words, sayNumber } from '#shared/node/http/language.ts'

/** One point that the rule read, and how well it was covered in the plot's window. */
export type InputRow = {
  role: string
  point: Point | undefined
  samples: number
  /** 0..1; null when nothing is known of the point. */
  coverage: number | null
}
/** The parts of a rule's file that the page shows: source, explanation and required roles. */
export type RuleWords = { source: string; gate: string | undefined; lets: Record<string, string>; roles: string[] }
export const WINDOWS = ['episode', 'day', 'week'] as const
export type Window = (typeof WINDOWS)[number]

/** Overrides that the page lists. */
const OVERRIDES_MAX = 20

export type Overridden = { role: string; held: OverridePeriod[] }
export type FaultModel = {
  finding: Finding
  note: ShownNote
  /** What people did about it, newest first. */
  events: FaultEvent[]
  building: Building
  equipment: Equipment | undefined
  window: Window
  here: Here
  /** When the building's data ended; undefined while data arrives. */
  dataEnd: number | undefined
  plot: Plot
  /** Of the inputs, by role. */
  overrides: Overridden[]
  inputs: InputRow[]
  /** Inputs of the rule that are not on the plot, because it holds six at most. */
  notPlotted: string[]
  /** The rule as it is installed now; undefined when it has gone. */
  rule: RuleWords | undefined
  /** The newest result of this rule on this equipment. */
  result: (RuleResult & { finished_at: number }) | undefined
  /** Earlier and later episodes of the same fault, newest first. */
  history: { finding: Finding; note: ShownNote }[]
  silencedBy: Finding | undefined
  /** The override that is named as the cause. */
  relabelledBy: Finding | undefined
  user: User | undefined
  csrf: string
  /** The snooze that was just ended. */
  ended: string | undefined
}

export const faultBody = (model: FaultModel, assets: PlotAssets): Html => html`<p class="crumbs"><a href="/faults">Faults</a></p>
${model.ended !== undefined && endedToast({ snooze_id: model.ended, csrf: model.csrf, back: findingHref(model.finding.finding_id), mayOperate: model.user?.mayOperate === true })}
${head(model)}
${faultBar(model)}
${plotSection(model, assets)}
<div class="columns">
<div>${because(model)}${inputsSection(model)}${overridesSection(model)}${caveats(model)}</div>
<div>${causeSection(model)}${costSection(model)}${historySection(model)}${faultActions(model)}${eventsSection(model.events, model.here)}</div>
</div>`

function head({ finding, note, building, equipment, here, dataEnd, silencedBy, relabelledBy, rule }: FaultModel): Html {
  const { evidence, from, to, duration_secs, severity, rule_id } = finding
  const urgent = dataEnd === undefined ? urgencyOf(finding, here.now) : undefined
  return html`<h1>${titleOf(finding)}</h1>
<p class="lead">${sentenceText(evidence.sentence, building.unit_system, Object.keys(evidence.inputs))}</p>
<dl class="facts">
<div><dt>Equipment</dt><dd>${equipmentLink(finding, equipment?.name ?? finding.equipment_id)}<span class="muted"> in <a href="${buildingHref(building.building_id)}">${building.name}</a></span></dd></div>
<div><dt>Priority</dt><dd class="p${priorityOf(severity)}">${priorityIcon(priorityOf(severity))}${urgent !== undefined && html`<span class="muted">, ${urgent === 'urgent' ? say`urgent` : say`chronic`}</span>`}</dd></div>
<div><dt>State</dt><dd class="state">${faultStateSign(finding, note)} ${stateWords(finding, note, endedOn(dataEnd, here))}${note.assignee !== undefined && html`, <span>${say`assigned to ${note.assignee}`}</span>`}${finding.ended && html` <span class="muted">${moment(finding.ended.at, here)}</span>`}</dd></div>
<div><dt>${to === null ? say`Since` : say`When`}</dt><dd>${to === null ? momentAge(from, here) : html`${moment(from, here)} to ${moment(to, here)}`}</dd></div>
<div><dt>In fault</dt><dd>${formatDuration(duration_secs * 1000)}, ${confirmedWords(finding, here)}</dd></div>
<div><dt>Rule</dt><dd>${rule ? html`<a href="${rulePath(rule_id)}"><code>${rule_id}</code></a>` : html`<code>${rule_id}</code>`}${rule && html` <span class="muted">${rule.source}</span>`}</dd></div>
</dl>
${silencedBy && html`<p class="notice">Silenced: explained by <a href="/faults/${encodeURIComponent(silencedBy.finding_id)}">${titleOf(silencedBy)}</a>.</p>`}
${relabelledBy && html`<p class="notice">${overrideIcon(say`This fault is an override.`)} <a href="/faults/${encodeURIComponent(relabelledBy.finding_id)}">${titleOf(relabelledBy)}</a> for at least half of its time. Should it stay when the point is released, look at the next cause.</p>`}
${snoozeNotice(note, here)}
${note.not_a_fault !== undefined && html`<p class="notice">Marked as not a fault: ${note.not_a_fault}</p>`}`
}

function confirmedWords({ hindsight, from, confirmed_at }: Finding, here: Here): Html {
  if (hindsight) return html`found afterwards, on ${moment(confirmed_at, here)}`
  return html`confirmed ${confirmed_at > from ? say`after ${formatDuration(confirmed_at - from)}` : say`at once`}`
}

/** @returns the day for `stateWords` */
const endedOn = (dataEnd: number | undefined, here: Here): string | undefined =>
  dataEnd === undefined ? undefined : formatDay(dataEnd, here)

const WINDOW_WORDS: Record<Window, string> = words({ episode: 'This episode', day: '24 hours', week: '7 days' })

function plotSection({ plot, window, finding, notPlotted, inputs, building }: FaultModel, assets: PlotAssets): Html {
  const summary = plotSummary(plot)
  const lines = plot.traces.flatMap(({ role, ended_at }) => {
    const point = inputs.find(input => input.role === role)?.point
    return point ? [{ point: { ...point, kind: ROLES[role]?.kind ?? point.kind }, name: roleName(role), ended_at }] : []
  })
  return html`<section class="card" id="plot"><div class="row"><h2>The rule's inputs</h2><ul class="choices">${WINDOWS.map(
    choice =>
      html`<li><a href="/faults/${encodeURIComponent(finding.finding_id)}?window=${choice}#plot"${choice === window && html` aria-current="true"`}>${WINDOW_WORDS[choice]}</a></li>`,
  )}</ul></div>
${
  plot.traces.length
    ? html`${zoomPlot({ building, plot, lines, name: say`Plot of the inputs` })}
<p class="summary">${summary}</p>
${notPlotted.length > 0 && html`<p class="summary">Not on the plot, but in the table below: ${notPlotted.map(roleWords).join(', ')}.</p>`}
${trendsLink(lines, plot, building)}
${plotTable(plot)}${zoomScripts(assets)}`
    : html`<p>No history of the inputs is kept here.</p>`
}
</section>`
}

/** The plotted inputs over the same time, to add other points; the script moves it to the time that is zoomed to. */
function trendsLink(lines: { point: Point }[], { from, to }: Plot, { building_id }: Building): Html {
  const span = { from: formatInstant(from), to: formatInstant(to) }
  const points = lines.map(({ point }) => point.point_id)
  return html`<p><a href="${trendsHref({ building: building_id, points, ...span })}" data-follows>Open in Trends</a></p>`
}

function because({ finding, building, here, rule }: FaultModel): Html {
  const evidence = { ...finding.evidence, params: shownParams(finding) }
  const lets = Object.entries(rule?.lets ?? {})
  if (finding.hindsight)
    return html`<section class="card"><h2>Because</h2>
<p>The first days were compared with those from ${moment(finding.hindsight.normal_from, here)} on, as the rule compares a day with days before it.</p>
${thresholds(finding, building)}
${baselines(finding, building)}
</section>`
  return html`<section class="card"><h2>Because</h2>
<p class="expression">${conditionHtml(evidence.expression)}</p>
${lets.length > 0 && html`<ul class="lets">${lets.map(([name, text]) => html`<li>where <code>${name}</code> is <code>${text}</code></li>`)}</ul>`}
${rule?.gate !== undefined && html`<p>Looked at only while <code>${rule.gate}</code>.</p>`}
${functionsLegend([evidence.expression, ...lets.map(([, text]) => text), rule?.gate ?? ''])}
<p>At the worst moment, ${formatMoment(evidence.worst_at, here)}:</p>
<ul class="terms">${evidence.terms.map(one => term(one, evidence, building))}</ul>
<dl class="values">${Object.entries(evidence.inputs).map(
    ([role, value]) =>
      html`<div><dt><code>${role}</code> ${roleOfColumn(role) === undefined && html`<span>${roleWords(role)}</span>`}</dt><dd>${inputWords(role, value, building.unit_system)}</dd></div>`,
  )}</dl>
${thresholds(finding, building)}
${baselines(finding, building)}
</section>`
}

/** True, false or not evaluated: a sign, a word, and no colour needed. */
function term({ text, holds }: Evidence['terms'][number], evidence: Evidence, { unit_system }: Building): Html {
  const [kind, sign, word] =
    holds === null ? ['open', '?', say`could not be evaluated`] : holds ? ['true', '✓', say`true`] : ['false', '✗', say`false`]
  return html`<li class="term ${kind}"><span class="sign" aria-hidden="true">${sign}</span> ${conditionHtml(text, piece => withValues(piece, evidence, unit_system))} <span class="muted">${word}</span></li>`
}

/** The equipment's own past, where the rule compares with it. */
function baselines({ evidence: { baselines: listed = [] }, equipment_id, hindsight }: Finding, building: Building): Html | false {
  if (listed.length === 0) return false
  const { building_id, unit_system } = building
  const href = `/baselines?${new URLSearchParams({ building: building_id, equipment: equipment_id })}`
  return html`<h3>${hindsight ? say`Compared with its own later days` : say`Compared with its own past`}</h3><ul>${listed.map(
    view => {
      const cold = coldWords(view, unit_system)
      return html`<li><code>${view.name}</code>: <strong>${valueWords(view, unit_system)}</strong>${cold !== undefined && `, ${cold}`}${dayLists(view)}</li>`
    },
  )}</ul><p><a href="${href}">What it is compared with now</a></p>`
}

function thresholds(finding: Finding, building: Building): Html | false {
  const { rule_id, equipment_id, finding_id } = finding
  const { building_id, unit_system } = building
  const listed = Object.entries(shownParams(finding))
  const asked = new URLSearchParams({ building: building_id, equipment: equipment_id, finding: finding_id })
  return (
    listed.length > 0 &&
    html`<h3>Thresholds</h3><dl class="values">${listed.map(
      ([name, { value, unit, source }]) =>
        html`<div><dt><code>${name}</code></dt><dd>${formatParam(value, unit, unit_system)} <span class="muted">${SOURCE_WORDS[source]}</span></dd></div>`,
    )}</dl><p><a href="/params/${encodeURIComponent(rule_id)}?${asked.toString()}">Change a threshold, or see what another value would have found</a></p>`
  )
}

function inputsSection({ inputs, building }: FaultModel): Html {
  if (inputs.length === 0)
    return html`<section class="card"><h2>Inputs</h2><p>The inputs of the rule were not recorded.</p></section>`
  return html`<section class="card"><h2>Inputs</h2>
<table class="inputs"><thead><tr><th scope="col">Role</th><th scope="col">Point</th><th scope="col">Unit</th><th scope="col">Samples</th><th scope="col">Coverage</th></tr></thead>
<tbody>${inputs.map(
    ({ role, point, samples, coverage }) => html`<tr>
<td data-label="Role"><div><code>${role}</code> <span class="muted">${roleWords(role)}</span></div></td>
<td data-label="Point"><div>${point ? html`<a href="${pointHref(point)}">${point.name}</a> <span class="muted address">${point.point_id} · ${point.source.protocol} ${addressText(point.source)}</span>` : say`no point has this role`}</div></td>
<td data-label="Unit"><div>${point ? unitWords(role, point, building.unit_system) : '–'}</div></td>
<td data-label="Samples"><div>${samples}</div></td>
<td data-label="Coverage"><div>${coverage === null ? '–' : shareOf(coverage)}</div></td>
</tr>`,
  )}</tbody></table></section>`
}

/** The unit of the plot, and the unit of the point where that is another. */
function unitWords(role: string, { unit }: Point, system: UnitSystem): Html | string {
  const { label } = measureOfRole(role, system)
  const own = unitLabel(unit)
  return label === '' || label === own ? own : html`${label} <span class="muted">kept in ${own}</span>`
}

/** Overrides of the inputs in the time shown. A visit shows one instant, not the time between two visits that differ. */
function overridesSection({ overrides, building, here }: FaultModel): Html | false {
  if (overrides.length === 0) return false
  const lines = overrides.flatMap(({ role, held }) => held.map(one => ({ role, ...one }))).toSorted((a, b) => b.from - a.from)
  return html`<section class="card"><h2>Overrides in the time shown</h2>
<ul class="log">${lines
    .slice(0, OVERRIDES_MAX)
    .map(
      ({ role, from, to, slot, value }) =>
        html`<li>${overrideIcon(`P${slot}`)} ${roleWords(role)} <code>${role}</code> held at <strong>${formatRoleValue(role, Number.isNaN(value) ? null : value, building.unit_system)}</strong>, seen from ${moment(from, here)} to ${moment(to, here)}</li>`,
    )}</ul>
${lines.length > OVERRIDES_MAX && html`<p class="muted">and ${lines.length - OVERRIDES_MAX} earlier ones</p>`}</section>`
}

/** Gaps in the data. The section is shown without gaps too, so that its absence needs no explanation. */
function caveats({ finding, inputs, result, here, dataEnd }: FaultModel): Html {
  const end = finding.to ?? dataEnd ?? here.now
  const open = end - finding.from - finding.duration_secs * 1000
  const thin = Map.groupBy(
    inputs.filter(({ coverage }) => coverage !== null && coverage < 0.95),
    ({ coverage }) => shareOf(coverage!),
  )
  const pointless = inputs.filter(({ point }) => point === undefined)
  const said = [
    inputs.every(({ coverage }) => coverage === null) && html`<li>No history of the inputs is kept here.</li>`,
    pointless.length > 0 && html`<li>No point has the role ${roleList(pointless)} any more.</li>`,
    open > 60_000 &&
      html`<li>${formatDuration(open)} of this episode do not count as time in fault: the inputs had gaps there or the condition did not hold.</li>`,
    ...[...thin].map(([share, rows]) => html`<li>Data for ${share} of the time shown: ${roleList(rows)}.</li>`),
    result &&
      result.coverage < 0.95 &&
      html`<li>The run of ${momentAge(result.finished_at, here)} could evaluate ${shareOf(result.coverage)} of the time that counts.</li>`,
    result?.reason && html`<li>The rest was not evaluated, mostly: ${REASON_WORDS[result.reason]}.</li>`,
  ].filter(Boolean)
  return html`<section class="card"><h2>How good the data is</h2>
${said.length ? html`<ul>${said}</ul>` : html`<p>All inputs were there for the time shown${result && say`, and nothing was left unevaluated`}.</p>`}</section>`
}

const roleList = (rows: InputRow[]): Html[] => rows.map(({ role }, i) => html`${i > 0 && ', '}<code>${role}</code>`)

/** Of a fan that is an equipment of its own nobody knows that it supplies air: a toilet exhaust fan is just the fan. */
const causeWords = ({ component }: CauseWeight, equipment: Equipment | undefined): string =>
  component === 'supply_fan' && equipment?.equipment_type === 'fan' ? say`fan` : componentWords(component)

function causeSection({ finding, equipment }: FaultModel): Html | false {
  const causes = finding.cause.toSorted((a, b) => b.weight - a.weight)
  const [first, second] = causes
  if (!first) return false
  const total = causes.reduce((sum, { weight }) => sum + Math.max(weight, 0), 0) || 1
  return html`<section class="card"><h2>Likely cause</h2>
<p><strong>${causeWords(first, equipment)}</strong>${second && html`; next most likely: ${causeWords(second, equipment)}`}</p>
${second && html`<ul class="bars">${causes.map(cause => causeBar(causeWords(cause, equipment), Math.max(cause.weight, 0) / total))}</ul>`}</section>`
}

const causeBar = (words: string, share: number): Html =>
  html`<li><span>${words}</span>${bar(share)}<span class="muted">${sayNumber(share * 100, 0)} %</span></li>`

/** The share is written beside it, so the bar is for the eye alone. */
const bar = (share: number): Html =>
  html`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" focusable="false"><rect class="track" width="100" height="8"/><rect width="${Math.round(share * 100)}" height="8"/></svg>`

function historySection({ history, finding, here, dataEnd }: FaultModel): Html {
  const others = history.filter(item => item.finding.finding_id !== finding.finding_id)
  return html`<section class="card"><h2>This fault at other times</h2>
${
  others.length
    ? html`<ul class="history">${others.map(
        item =>
          html`<li><a href="/faults/${encodeURIComponent(item.finding.finding_id)}">${moment(item.finding.from, here)}</a> ${formatDuration(item.finding.duration_secs * 1000)} <span class="muted state">${faultStateSign(item.finding, item.note)} ${stateWords(item.finding, item.note, endedOn(dataEnd, here))}${item.note.note !== undefined && html`; ${item.note.note}`}</span></li>`,
      )}</ul>`
    : html`<p>No other episode of it on this equipment is kept.</p>`
}</section>`
}
