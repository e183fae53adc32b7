/** The page on which a rule is written. It works without script: the same check is a button. */
import type { Building } from '#shared/core/model/model.ts'
import type { BacktestReport } from '#shared/flow/fdd/backtest.ts'
import type { Publication } from '#shared/flow/fdd/publish-rules.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { YAML_MAX } from '#shared/central/api/fdd/rules.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { rulePath, RULES_PATH } from '#shared/central/ui/links.ts'
import type { Here } from '#shared/central/ui/moment.ts'
import { backtestResult } from '#shared/central/pages/settings/backtest-result.ts'
import { EDITOR_PATH, equipmentWords } from './rule-words.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

/** Fields of the form; `rule` and `sha` are the rule that was opened, and its text then. */
export type EditorForm = { yaml: string; file: string; rule: string; sha: string; building: string; days: number }
/** Of a text that was checked: what would be deployed, or why nothing would. */
export type RuleVerdict =
  | { publication: Publication }
  | { refused: string; errors: { line: number | undefined; message: string }[] }
export type EditorModel = {
  form: EditorForm
  verdict: RuleVerdict | undefined
  tried: BacktestReport | undefined
  /** That the text is tried on; undefined where there is none yet. */
  building: Building | undefined
  buildings: Building[]
  nameOf: (equipment_id: string) => string
  here: Here
  csrf: string
}

/** Days that a trial may look back. */
const DAYS_TRIED = [1, 3, 7, 14, 31] as const
/** Errors that the page lists; they are corrected one after the other. */
const ERRORS_SHOWN = 20
/** Characters of a line with an error. */
const LINE_SHOWN = 80

export const editorBody = (
  model: EditorModel,
): Html => html`<p class="crumbs"><a href="${RULES_PATH}">Rules</a>${model.form.rule !== '' && html` <span aria-hidden="true">›</span> <a href="${rulePath(model.form.rule)}">${model.form.rule}</a>`}</p>
<h1>${model.form.rule === '' ? say`Write a rule` : say`Change a rule`}</h1>
<p class="lead">A rule is a text with its own tests. Nothing counts before it is deployed.</p>
${textForm(model)}
${tried(model)}`

const textForm = (
  model: EditorModel,
): Html => html`<form class="fields" method="post" action="${EDITOR_PATH}/check#checked">${csrfField(model.csrf)}${kept(model.form)}
<label>Text of the rule<textarea class="rule-text" name="yaml" rows="24" wrap="off" spellcheck="false" autocomplete="off" autocapitalize="off" maxlength="${YAML_MAX}" hx-post="${EDITOR_PATH}/checked" hx-trigger="input changed delay:600ms" hx-target="#checked" hx-swap="innerHTML" hx-sync="this:replace" aria-describedby="checked">
${model.form.yaml}</textarea></label>
<div id="checked" class="card" role="status">${checkedPart(model.verdict, model.form.yaml)}</div>
<p class="buttons"><button>Check</button> <button class="primary" formaction="${EDITOR_PATH}/review">Deploy …</button></p>
${model.building && trialFields(model)}</form>`

/** What the form carries along. */
export const kept = ({ file, rule, sha }: EditorForm): Html =>
  html`${Object.entries({ file, rule, sha }).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`

function trialFields({ buildings, building, form }: EditorModel): Html {
  return html`<section class="card fields"><h2>Try it on past data</h2>
${
  buildings.length > 1
    ? html`<label>Building <select name="building">${buildings.map(one => html`<option value="${one.building_id}"${one === building && html` selected`}>${one.name}</option>`)}</select></label>`
    : html`<input type="hidden" name="building" value="${building?.building_id}">`
}
<label>Look back <select name="days">${DAYS_TRIED.map(days => html`<option value="${days}"${days === form.days && html` selected`}>${sayCountOf(days, 'day')}</option>`)}</select></label>
<button formaction="${EDITOR_PATH}/try#tried">What would this have found?</button></section>`
}

/** Whether the text checks. The place of each error is a line of the text, which is shown: the field does not count its lines. */
export function checkedPart(verdict: RuleVerdict | undefined, yaml: string): Html {
  if (!verdict) return html`<p>The text is checked while you type, and when you press Check.</p>`
  if ('refused' in verdict) return refusal(verdict, yaml.split('\n'))
  const { rule_id, title, equipment, tests } = verdict.publication.rules[0]!
  const passed = tests === 0 ? say`It has no tests: write one before you trust it.` : say`${sayCountOf(tests, 'test')}, all pass.`
  return html`<p><strong>It checks.</strong> ${title} (<code>${rule_id}</code>), for ${equipmentWords(equipment)}. ${passed}</p>`
}

function refusal({ refused, errors }: Extract<RuleVerdict, { refused: string }>, lines: string[]): Html {
  if (errors.length === 0) return html`<p role="alert"><strong>Nothing was deployed.</strong> ${refused}</p>`
  return html`<p role="alert"><strong>${sayCountOf(errors.length, 'place')} to correct.</strong></p><ul class="log">${errors
    .slice(0, ERRORS_SHOWN)
    .map(
      ({ line, message }) =>
        html`<li>${line !== undefined && html`Line ${line}, <code>${lines[line - 1]?.trim().slice(0, LINE_SHOWN)}</code>: `}${message}</li>`,
    )}</ul>${errors.length > ERRORS_SHOWN && html`<p class="muted">and ${errors.length - ERRORS_SHOWN} more</p>`}`
}

function tried({ tried: report, building, nameOf, here }: EditorModel): Html | false {
  if (!report || !building) return false
  return html`<section class="card" id="tried" role="status"><h2>What ${report.rule_id} would have found in ${building.name}</h2>
${
  report.equipment.length > 0
    ? backtestResult({ ...report, proposed: 'text' }, nameOf, building.unit_system, here)
    : html`<p>The building has no equipment of a type that the rule is for.</p>`
}</section>`
}
