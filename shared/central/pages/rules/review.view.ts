/** What deploying a rule changes, before it is done. */
import type { Publication } from '#shared/flow/fdd/publish-rules.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { rulePath, RULES_PATH } from '#shared/central/ui/links.ts'
import { type EditorForm, kept } from './editor.view.ts'
import { diffLines } from './line-diff.ts'
import { EDITOR_PATH, type RuleOrigin } from './rule-words.ts'
import { say, sayCountOf, words } from '#shared/node/http/language.ts'

export type ReviewModel = {
  form: EditorForm
  rule: Publication['rules'][number]
  /** The text that counts now; undefined for a rule that is new. */
  before: { yaml: string; origin: RuleOrigin } | undefined
  isInactive: boolean
  /** Open findings of the rule. */
  open: number
  /** Buildings with equipment that the rule is for. `appliance`: the one that runs the rules there itself. */
  reached: { building: string; count: number; appliance: string | undefined }[]
  csrf: string
}

export const reviewBody = (
  model: ReviewModel,
): Html => html`<p class="crumbs"><a href="${RULES_PATH}">Rules</a>${model.before && html` <span aria-hidden="true">›</span> <a href="${rulePath(model.rule.rule_id)}">${model.rule.rule_id}</a>`}</p>
<h1>Deploy ${model.rule.rule_id}?</h1>
<p class="lead">${say(model.rule.title)}</p>
<section class="card"><h2>What this changes</h2><ul>${consequences(model).map(words => html`<li>${words}</li>`)}</ul></section>
${model.before && difference(model.before.yaml, model.form.yaml)}
<form method="post" action="${EDITOR_PATH}/deploy">${csrfField(model.csrf)}${kept(model.form)}<input type="hidden" name="yaml" value="${model.form.yaml}">
<p class="buttons">${!isSame(model) && html`<button class="primary">Deploy</button> `}<button formaction="${EDITOR_PATH}/check">Back to the text</button></p></form>`

const isSame = ({ before, form }: ReviewModel): boolean => before?.yaml === form.yaml

function consequences(model: ReviewModel): string[] {
  if (isSame(model)) return [say`Nothing: this text counts already.`]
  const { rule, before, isInactive, open, reached } = model
  const here = reached.filter(({ appliance }) => appliance === undefined)
  const elsewhere = reached.filter(({ appliance }) => appliance !== undefined)
  const places = here.map(({ building, count }) => say`${count} in ${building}`).join(', ')
  return [
    before ? REPLACED[before.origin] : say`It is a new rule.`,
    here.length > 0
      ? say`From the next run on it is evaluated for the equipment of its types: ${places}.`
      : say`No building whose rules run here has equipment of its types yet.`,
    ...elsewhere.map(
      ({ building, appliance }) => say`It does not reach ${building}: the appliance ${appliance} runs the rules there.`,
    ),
    ...(isInactive ? [say`The rule is deactivated and stays so until somebody activates it.`] : []),
    ...(open > 0
      ? [say`${sayCountOf(open, 'finding')} of it ${open === 1 ? say`is` : say`are`} open: the next run says which remain.`]
      : []),
    rule.tests === 0 ? say`It has no tests of its own.` : say`${sayCountOf(rule.tests, 'test')} of its own: all pass.`,
    say`It can be taken back: the page of the rule has its versions.`,
  ]
}

const REPLACED: Record<RuleOrigin, string> = words({
  shipped: 'It takes the place of the rule that ships with the program.',
  own: 'It takes the place of the text that was deployed before.',
  override: 'It takes the place of the text that was deployed before, and of the rule that ships with the program.',
})

function difference(before: string, after: string): Html | false {
  const lines = diffLines(before, after)
  if (lines.every(({ sign }) => sign === ' ')) return false
  return html`<section class="card"><h2>Changed lines</h2><ul class="diff">${lines
    .filter(({ sign }) => sign !== ' ')
    .map(
      ({ sign, line, text }) =>
        html`<li class="${sign === '+' ? 'added' : 'removed'}"><span class="sign" aria-hidden="true">${sign === '+' ? '+' : '−'}</span><span class="hidden">${sign === '+' ? say`added` : say`removed`} in line ${line}: </span><code>${text}</code></li>`,
    )}</ul></section>`
}
