/** The page of one rule: what it says, what it reads, its thresholds, causes and tests, where it comes from, and its versions. */
import { priorityOf } from '#shared/core/findings/finding.ts'
import type { RuleParam } from '#shared/core/rules/check/rule.ts'
import type { RuleState } from '#shared/core/stores.ts'
import type { RuleCheck } from '#shared/flow/fdd/publish-rules.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { RuleReading, RuleView } from '#shared/central/fdd/rule-views.ts'
import { csrfField, type User } from '#shared/central/ui/frame.ts'
import { functionsLegend } from '#shared/central/pages/rules/condition-words.ts'
import { priorityIcon } from '#shared/central/ui/icons.ts'
import { edgeHref, paramsPath, rulePath, RULES_PATH } from '#shared/central/ui/links.ts'
import { roleWords, unitLabel, type UnitSystem } from '#shared/central/ui/measure.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { settingButton } from '#shared/central/ui/setting-button.ts'
import { componentWords, type RuleOwner } from '#shared/central/ui/words.ts'
import { paramWords } from '#shared/central/pages/settings/param-words.ts'
import { type ListedVersion, versionsCard, type VersionsModel } from './versions-card.ts'
import {
  choiceWords,
  editorHref,
  equipmentWords,
  FINDING_DAYS,
  findingsHref,
  ORIGIN_WORDS,
  type RuleOrigin,
} from './rule-words.ts'
import { say, sayCountOf, sayFigure, sayMade, words } from '#shared/node/http/language.ts'

export const RULE_DONE = ['activated', 'deactivated', 'deployed', 'rolled-back', 'removed'] as const
type RuleDone = (typeof RULE_DONE)[number]
const DONE_WORDS: Record<RuleDone, string> = words({
  activated: 'The rule is active from the next run on.',
  deactivated: 'The rule is deactivated: no run evaluates it.',
  deployed: 'The rule is deployed and counts from the next run on.',
  'rolled-back': 'The earlier text counts from the next run on.',
  removed: 'The rule is removed.',
})

export type RuleModel = {
  rule: RuleView
  reading: RuleReading
  origin: RuleOrigin
  filename: string
  /** Undefined for a rule that nobody has activated or deactivated: it is active. */
  state: RuleState | undefined
  /** In the last `FINDING_DAYS`. */
  findings: number
  /** Whether the program ships a rule of this id. */
  shipped: boolean
  versions: ListedVersion[]
  /** In which values are read. */
  unitSystem: UnitSystem
  /** Buildings whose own appliance runs the rules. */
  appliances: { building: string; appliance: RuleOwner }[]
  /** Set where every building has such an appliance, so that no rule of this process runs. */
  ruleOwner: RuleOwner | undefined
  done: RuleDone | undefined
  /** What its tests said, where they were run. */
  tested: RuleCheck | undefined
  here: Here
  user: User | undefined
  csrf: string
}

const doneToast = (done: RuleDone | undefined, undo: Html | false = false): Html | undefined =>
  done && html`<div class="toast" role="status"><p>${DONE_WORDS[done]}</p>${undo}</div>`

export const ruleBody = (model: RuleModel): Html => html`${doneToast(model.done)}
<p class="crumbs"><a href="${RULES_PATH}">Rules</a></p>
<h1>${say(model.rule.title)}</h1>
<p class="lead">${sentence(model.reading.explains)}</p>
${facts(model)}
${appliancesNotice(model.appliances)}
<div class="columns">
<div>${condition(model)}${inputs(model)}${params(model)}${text(model)}</div>
<div>${state(model)}${causes(model)}${tests(model)}${versionsCard(model.rule.id, model)}${removal(model)}</div>
</div>`

/** The sentence of a finding, with the rule's expressions where a finding has figures. */
function sentence(explains: string): Html[] {
  const figures = [...explains.matchAll(/\{([^}]*)\}/g)].map(([, figure]) => figure!)
  let places = 0
  const said = say(explains.replaceAll(/\{[^}]*\}/g, () => `{${places++}}`))
  return said.split(/\{(\d+)\}/).map((part, i) => (i % 2 === 0 ? html`${part}` : html`<code>${figures[Number(part)]}</code>`))
}

function facts({ rule, origin, filename, findings }: RuleModel): Html {
  const { id, kind, equipment, severity, source } = rule
  return html`<dl class="facts">
<div><dt>Rule</dt><dd><code>${id}</code></dd></div>
<div><dt>For</dt><dd>${equipmentWords(equipment)}</dd></div>
<div><dt>Kind</dt><dd>${say(kind.replaceAll('_', ' '))}</dd></div>
<div><dt>Priority</dt><dd class="p${priorityOf(severity)}">${priorityIcon(priorityOf(severity))}</dd></div>
<div><dt>Found</dt><dd>${findings > 0 ? html`<a href="${findingsHref(id)}">${sayCountOf(findings, 'finding')} in ${FINDING_DAYS} days</a>` : say`nothing in ${FINDING_DAYS} days`}</dd></div>
<div><dt>Comes from</dt><dd>${ORIGIN_WORDS[origin]} <span class="muted">${filename}</span></dd></div>
<div><dt>Source</dt><dd>${source}</dd></div>
</dl>`
}

/** A rule that is changed here does not reach an appliance that runs its own. */
const appliancesNotice = (appliances: RuleModel['appliances']): Html | false =>
  appliances.length > 0 &&
  html`<p class="notice">${appliances.map(({ building, appliance }) => html`${say`The rules of ${building} run on the appliance ${appliance.name}. `}<a href="${edgeHref(appliance)}">${say`Page of ${appliance.name}`}</a>. `)}What is changed here does not reach it: change it on its pages.</p>`

const condition = ({ reading }: RuleModel): Html => html`<section class="card"><h2>What it says</h2>
<ul class="lets">${reading.alternatives.map(choice => html`<li>It needs one of: ${choiceWords(choice)}.</li>`)}${reading.words.map(words => html`<li>${sayMade(words).trim()}</li>`)}</ul>
${functionsLegend(reading.words)}</section>`

function inputs({ rule }: RuleModel): Html {
  const listed = (roles: Record<string, string>, need: string) =>
    Object.entries(roles).map(
      ([role, unit]) => html`<tr>
<td data-label="Role"><div><code>${role}</code> <span class="muted">${roleWords(role)}</span></div></td>
<td data-label="Unit"><div>${unitLabel(unit)}</div></td>
<td data-label="Needed"><div>${need}</div></td></tr>`,
    )
  const rows = [...listed(rule.roles, say`yes`), ...listed(rule.optional, say`where it is mapped`)]
  return html`<section class="card"><h2>Inputs</h2>${
    rows.length > 0
      ? html`<table class="inputs"><thead><tr><th scope="col">Role</th><th scope="col">Unit</th><th scope="col">Needed</th></tr></thead><tbody>${rows}</tbody></table>`
      : html`<p>It runs once for every role that an equipment has.</p>`
  }</section>`
}

function params({ rule, reading, unitSystem }: RuleModel): Html | false {
  const listed = Object.entries(rule.params)
  if (listed.length === 0) return false
  return html`<section class="card"><h2>Parameters</h2>
<table class="tried"><thead><tr><th scope="col">Parameter</th><th scope="col">Value</th><th scope="col">Range</th><th scope="col">Why</th></tr></thead>
<tbody>${listed.map(([name, param]) => paramRow(name, param, reading.sources[name] ?? '', unitSystem))}</tbody></table>
<p><a href="${paramsPath(rule.id)}">Which value counts where, and what another would have found</a></p></section>`
}

function paramRow(
  name: string,
  { default: value, min, max, unit, perRole = {} }: RuleParam,
  source: string,
  system: UnitSystem,
): Html {
  const words = (figure: number) => (unit === 'any' ? sayFigure(figure) : paramWords(figure, unit, system))
  const others = Object.entries(perRole).map(([role, each]) => `${role} ${each}`)
  return html`<tr>
<td data-label="Parameter"><div><code>${name}</code></div></td>
<td data-label="Value"><div>${words(value)}${unit === 'any' && say` in the role's unit`}${others.length > 0 && html` <span class="muted">${others.join(', ')}</span>`}</div></td>
<td data-label="Range"><div>${words(min)} to ${words(max)}</div></td>
<td data-label="Why"><div>${sourceWords(source)}</div></td></tr>`
}

/** The shipped catalogue names a reason that several rules share by one word: `closed_end`. */
const sourceWords = (source: string): string =>
  source === '' ? say`no reason is given` : /\s/.test(source) ? source : source.replaceAll('_', ' ')

const text = ({ reading, user, rule }: RuleModel): Html => html`<section class="card"><h2>Text</h2>
${
  user?.mayOperate
    ? html`<ul class="choices"><li><a href="${editorHref({ rule: rule.id })}">Change this rule</a></li><li><a href="${editorHref({ copy: rule.id })}">Copy as a new rule</a></li></ul>`
    : html`<p class="why">Rules are changed by operators.</p>`
}
<details><summary>The file as it is written</summary><pre class="told">${reading.yaml}</pre></details></section>`

function state({ rule, state: own, here, user, csrf, ruleOwner }: RuleModel): Html {
  const active = own?.active ?? true
  const meaning = active
    ? say`When it is deactivated no run evaluates it. Its open findings end with the next run, and say that they were not cured.`
    : say`When it is activated its tests are run once more; the next run evaluates it.`
  return html`<section class="card" id="state"><h2>${active ? say`Active` : say`Deactivated`}</h2>
${own && html`<p class="muted">${active ? say`Activated` : say`Deactivated`} by ${own.changed_by}, ${moment(own.changed_at, here)}</p>`}
<p>${meaning}</p>
<form method="post" action="${rulePath(rule.id)}/activate">${csrfField(csrf)}<input type="hidden" name="active" value="${String(!active)}">${settingButton({ user, ruleOwner }, 'state-why', active ? say`Deactivate` : say`Activate`)}</form></section>`
}

function causes({ reading }: RuleModel): Html | false {
  if (reading.causes.length === 0) return false
  return html`<section class="card"><h2>Points to</h2><dl class="values">${reading.causes.map(
    ({ component, weight, when }) =>
      html`<div><dt>${componentWords(component)}${when !== undefined && html` <span>when <code>${when}</code></span>`}</dt><dd>weight ${sayFigure(weight)}</dd></div>`,
  )}</dl></section>`
}

/** Tests are run when somebody asks: those of a rule with a long past take seconds. */
function tests({ rule, reading, tested }: RuleModel): Html {
  const count = sayCountOf(reading.tests.length, 'test')
  const said = tested && (tested.failing.length > 0 ? say`${tested.failing.length} of ${count} fail.` : say`${count}: all pass.`)
  return html`<section class="card" id="tests"><h2>Its own tests</h2>
${reading.tests.length === 0 ? html`<p>It has none.</p>` : said ? html`<p role="status">${said}</p>` : html`<p>${count}. <a href="${rulePath(rule.id)}?tests=run#tests">Run them now</a></p>`}
${tested && tested.failing.length > 0 && html`<ul class="log">${tested.failing.map(({ name, line, problems }) => html`<li>Line ${line}, <strong>${name}</strong>: ${problems.map(sayMade).join('; ')}</li>`)}</ul>`}
${reading.tests.length > 0 && html`<details><summary>What they try</summary><ul class="log">${reading.tests.map(({ name }) => html`<li>${name}</li>`)}</ul></details>`}</section>`
}

/** Of an own rule alone: a shipped one is deactivated instead. */
function removal({ rule, origin, shipped, user, csrf }: RuleModel): Html | false {
  if (origin === 'shipped' || shipped || user?.role !== 'admin') return false
  return html`<section class="card"><h2>Remove</h2><details><summary>Remove this rule</summary><p>Its open findings end with the next run, and say that they were not cured. The texts above are stored, so that it can be brought back.</p>
<form method="post" action="${rulePath(rule.id)}/remove">${csrfField(csrf)}<button>Remove this rule</button></form></details></section>`
}

/** The page of a rule that does not count any more, from which it can be brought back. */
export const removedBody = (
  rule_id: string,
  done: RuleDone | undefined,
  model: VersionsModel,
): Html => html`${doneToast(done, done === 'removed' && undoRemoval(rule_id, model))}
<p class="crumbs"><a href="${RULES_PATH}">Rules</a></p>
<h1>${rule_id}</h1>
<p class="lead">No rule of this id counts now. Its earlier texts are stored.</p>
${versionsCard(rule_id, model)}`

/** The text that counted before the removal is the one that was deployed last. */
const undoRemoval = (rule_id: string, { versions: [last], user, csrf }: VersionsModel): Html | false =>
  last !== undefined &&
  user?.mayOperate === true &&
  html`<form method="post" action="${rulePath(rule_id)}/roll-back">${csrfField(csrf)}<input type="hidden" name="to" value="${last.sha256}"><button>Undo</button></form>`
