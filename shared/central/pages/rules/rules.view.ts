/** The list of rules: what each finds, for which equipment, how often it did, and whether it runs. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { RuleVersion } from '#shared/core/stores.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import type { RuleFileView } from '#shared/central/fdd/rule-views.ts'
import { rulePath, RULES_PATH } from '#shared/central/ui/links.ts'
import { listSearch, type ListPart, pager } from '#shared/central/ui/pager.ts'
import { editorHref, equipmentWords, FINDING_DAYS, findingsHref, ORIGIN_WORDS, type ListedRule, titleIn } from './rule-words.ts'
import { say, sayCountOf, sayMade, words } from '#shared/node/http/language.ts'

export const SHOWN = ['all', 'found', 'active', 'inactive', 'shipped', 'own', 'errors', 'removed'] as const
type Shown = (typeof SHOWN)[number]
const SHOWN_WORDS: Record<Exclude<Shown, 'found'>, string> = words({
  all: 'all',
  active: 'active',
  inactive: 'deactivated',
  shipped: 'shipped',
  own: 'own',
  errors: 'files with errors',
  removed: 'removed',
})
const shownWords = (shown: Shown): string => (shown === 'found' ? say`with findings in ${FINDING_DAYS} days` : SHOWN_WORDS[shown])

export type RuleQuery = { q: string; type?: EquipmentType; show: Shown }
export type RulesModel = {
  query: RuleQuery
  part: ListPart<ListedRule>
  /** Of all rules, whatever the filter. */
  total: number
  active: number
  own: number
  /** Types of equipment for which there is a rule. */
  types: EquipmentType[]
  /** Files that do not check, so that none of their rules counts. */
  broken: RuleFileView[]
  /** The last texts of own rules that were removed. */
  removed: RuleVersion[]
  mayOperate: boolean
  csrf: string
}

export const rulesBody = (model: RulesModel): Html => html`<h1>Rules</h1>
<p class="lead">${sayCountOf(model.active, 'rule')} of ${model.total} run${model.own > 0 && html`, ${model.own} of your own`}.</p>
${choices(model)}
${search(model)}
${chips(model)}
${brokenFiles(model)}
${model.query.show === 'removed' ? removedRules(model) : model.query.show !== 'errors' && ruleTable(model)}`

/** What may be done, and the way to what is not in the list. */
function choices({ mayOperate, removed, query }: RulesModel): Html | false {
  const links = [
    ...(mayOperate ? [[editorHref(), say`Write a rule`]] : []),
    ...(removed.length > 0 && query.show !== 'removed'
      ? [[listHref({ q: '', show: 'removed' }, 1), sayCountOf(removed.length, 'removed rule')]]
      : []),
  ]
  return (
    links.length > 0 &&
    html`<ul class="choices">${links.map(([href, text]) => html`<li><a href="${href}">${text}</a></li>`)}</ul>`
  )
}

function search({ query, types }: RulesModel): Html {
  const { q, type, show } = query
  return listSearch({
    path: RULES_PATH,
    state: {},
    q,
    label: say`Title or id`,
    fields: html`<label>Equipment <select name="type"><option value="">any</option>${types.map(
      one => html`<option value="${one}"${one === type && html` selected`}>${equipmentWords([one])}</option>`,
    )}</select></label>
<label>Show <select name="show">${SHOWN.map(
      one => html`<option value="${one}"${one === show && html` selected`}>${shownWords(one)}</option>`,
    )}</select></label>`,
  })
}

/** The filter that is set, each part with the link that takes it away. */
function chips({ query, part }: RulesModel): Html | false {
  const { q, type, show } = query
  const parts: [text: string, without: RuleQuery][] = [
    ...(q === '' ? [] : [[`“${q}”`, { ...query, q: '' }] as [string, RuleQuery]]),
    ...(type === undefined ? [] : [[equipmentWords([type]), { q, show }] as [string, RuleQuery]]),
    ...(show === 'all' ? [] : [[shownWords(show), { ...query, show: 'all' }] as [string, RuleQuery]]),
  ]
  return (
    parts.length > 0 &&
    html`<p class="chips"><strong>${show === 'errors' || show === 'removed' ? say`Filtered:` : `${sayCountOf(part.total, 'rule')}:`}</strong> ${parts.map(
      ([text, without]) =>
        html`<a class="chip" href="${listHref(without, 1)}">${text} <span aria-hidden="true">×</span><span class="hidden"> remove</span></a> `,
    )}<a class="clear" href="${RULES_PATH}">show all</a></p>`
  )
}

function listHref({ q, type, show }: RuleQuery, page: number): string {
  const query = new URLSearchParams({
    ...(q !== '' && { q }),
    ...(type && { type }),
    ...(show !== 'all' && { show }),
    ...(page > 1 && { page: String(page) }),
  }).toString()
  return query ? `${RULES_PATH}?${query}` : RULES_PATH
}

function brokenFiles({ broken, query, mayOperate }: RulesModel): Html | false {
  if (broken.length === 0)
    return (
      query.show === 'errors' &&
      html`<section class="card quiet-card"><h2>No file has an error</h2><p>Every rule file was read, and its rule counts.</p></section>`
    )
  return html`<section class="card"><h2>Files that do not count</h2><ul class="log">${broken.map(
    file =>
      html`<li><strong>${file.filename}</strong>: ${file.errors.map(({ line, message }, i) => html`${i > 0 && '; '}line ${line}, ${sayMade(message)}`)}${mayOperate && !file.shipped && html` <a href="${editorHref({ file: file.filename })}">Correct it</a>`}</li>`,
  )}</ul></section>`
}

/** Own rules that do not count any more. What was typed for the search does not narrow them: they are few. */
function removedRules({ removed, mayOperate, csrf }: RulesModel): Html {
  if (removed.length === 0)
    return html`<section class="card quiet-card"><h2>No rule was removed</h2><p>An own rule that is removed stays here with its last text, so that it can be brought back.</p></section>`
  return html`<section class="card"><h2>Removed rules</h2><p>None of them counts. Brought back, a rule has its last text, after its tests were run, and counts from the next run on.</p><ul class="log">${removed.map(
    ({ rule_id, sha256, yaml }) =>
      html`<li><a href="${rulePath(rule_id)}">${titleIn(yaml) ?? rule_id}</a> <span class="muted">${rule_id}</span>${mayOperate && html`<form method="post" action="${rulePath(rule_id)}/roll-back">${csrfField(csrf)}<input type="hidden" name="to" value="${sha256}"><button>Bring back<span class="hidden"> ${rule_id}</span></button></form>`}</li>`,
  )}</ul></section>`
}

function ruleTable({ part, query }: RulesModel): Html {
  if (part.total === 0)
    return html`<section class="card quiet-card"><h2>No rule is like that</h2><p>Take a part of the filter away, or search for a part of a title or id.</p></section>`
  return html`<table class="tried rules"><thead><tr><th scope="col">Rule</th><th scope="col">For</th><th scope="col">Found, ${FINDING_DAYS} days</th><th scope="col">State</th></tr></thead>
<tbody>${part.rows.map(ruleRow)}</tbody></table>
${pager(part, page => listHref(query, page))}`
}

const ruleRow = ({
  id,
  title,
  equipment,
  findings,
  active,
  origin,
}: ListedRule): Html => html`<tr${!active && html` class="cleared"`}>
<td class="what" data-label="Rule"><div><a href="${rulePath(id)}">${say(title)}</a> <span class="muted">${id}</span></div></td>
<td data-label="For"><div>${equipmentWords(equipment)}</div></td>
<td data-label="Found"><div>${findings > 0 ? html`<a href="${findingsHref(id)}">${sayCountOf(findings, 'finding')}</a>` : html`<span class="muted">no finding</span>`}</div></td>
<td data-label="State"><div>${active ? say`active` : say`deactivated`}${origin !== 'shipped' && html` <span class="muted">${ORIGIN_WORDS[origin]}</span>`}</div></td>
</tr>`
