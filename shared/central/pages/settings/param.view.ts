/** The page of one rule's parameters: what counts where, what people have set, and what another value would have found. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building, Equipment } from '#shared/core/model/model.ts'
import { ROLES } from '#shared/core/model/role.ts'
import type { ParamScope, ParamUse } from '#shared/core/rules/check/param-settings.ts'
import type { StoredSetting } from '#shared/core/tuning.ts'
import { type BacktestModel, backtestResult } from './backtest-result.ts'
import { NOTE_MAX } from '#shared/central/commands/command.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { rulePath } from '#shared/central/ui/links.ts'
import {
  type DisplayUnit,
  foreignMeasure,
  thresholdUnit,
  toTyped,
  unitLabel,
  type UnitSystem,
} from '#shared/central/ui/measure.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { paramWords, placeWords } from './param-words.ts'
import { buildingChoice, tuningTabs } from './params.view.ts'
import { settingButton } from '#shared/central/ui/setting-button.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { type RuleOwner, ruleOwnerNotice } from '#shared/central/ui/words.ts'
import { SOURCE_WORDS } from '#shared/central/ui/words.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

/** Fields of a form of the page. */
export type ParamForm = {
  param: string
  /** In the unit of the parameter. */
  value: number
  /** Scope and id in one: `site`, `type ahu`, `equipment AHU-1`. */
  where: string
  role: string
  note: string
  days: number
}
type ParamCard = {
  name: string
  default: number
  min: number
  max: number
  /** `any` where it is that of the role. */
  unit: string
  perRole: Record<string, number>
  uses: ParamUse[]
}
export type ParamPageModel = {
  rule: { id: string; title: string; source: string; isOverRoles: boolean }
  building: Building
  buildings: Building[]
  params: ParamCard[]
  settings: (StoredSetting & { problem?: string })[]
  /** Equipment of the building for which the rule is. */
  equipment: Equipment[]
  /** Roles of that equipment, for a rule over every role. */
  roles: string[]
  /** The appliance that runs the building's rules itself, where this process does not. */
  ruleOwner: RuleOwner | undefined
  /** Equipment that the forms stand at first, and the fault from which somebody came. */
  at: { equipment_id?: string; finding_id?: string }
  form: ParamForm | undefined
  /** The backtest, or the reason why it failed. */
  outcome: BacktestModel | { refused: string } | undefined
  here: Here
  user: User | undefined
  csrf: string
}

/** Days that a trial may look back. */
const DAYS_TRIED = [1, 3, 7, 14, 31] as const
/** Names that one line lists. */
const NAMED_MAX = 12

export const paramBody = (
  model: ParamPageModel,
): Html => html`<p class="crumbs"><a href="/params?building=${encodeURIComponent(model.building.building_id)}">Parameters</a></p>
<h1>${say(model.rule.title)}</h1>
<p class="lead"><a href="${rulePath(model.rule.id)}"><code>${model.rule.id}</code></a> <span class="muted">${model.rule.source}</span></p>
${model.at.finding_id !== undefined && html`<p><a href="/faults/${encodeURIComponent(model.at.finding_id)}">Back to the fault</a></p>`}
${tuningTabs('/params', model.building.building_id)}
${buildingChoice(model.buildings, model.building, `/params/${encodeURIComponent(model.rule.id)}`)}
${ruleOwnerNotice(model.building.name, model.ruleOwner)}
${tried(model)}
${model.params.length ? model.params.map(param => paramCard(param, model)) : html`<section class="card"><p>This rule has no parameters.</p></section>`}
${setByPeople(model)}`

function tried({ form, outcome, building, here, equipment, params, ...model }: ParamPageModel): Html | false {
  if (!form || !outcome) return false
  const nameOf = (id: string) => equipment.find(({ equipment_id }) => equipment_id === id)?.name || id
  if ('refused' in outcome) return html`<p class="notice" role="alert">${outcome.refused}</p>`
  const { scope, scope_id = building.site_id } = scopeOf(form.where)
  const unit = unitFor(params.find(({ name }) => name === form.param)?.unit ?? '', form.role)
  const place = placeWords({ scope, scope_id, ...(form.role && { role: form.role }) }, nameOf(scope_id))
  const fields = Object.entries({ ...form, building: building.building_id })
  return html`<section class="card" id="tried" role="status"><h2><code>${form.param}</code> at ${paramWords(form.value, thresholdUnit(unit, form.role || undefined), building.unit_system)} for ${place}</h2>
${backtestResult({ ...outcome, proposed: 'value', is_deployed: true }, nameOf, building.unit_system, here)}
<form method="post" action="/params/${encodeURIComponent(model.rule.id)}/set">${csrfField(model.csrf)}${fields.map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}${settingButton(model, 'tried-why', say`Save this value`, 'primary')}</form>
</section>`
}

/** The way to type a value of a parameter in the reader's units; undefined where it is typed in its own unit, or in that of a role. */
export const typedMeasure = (unit: string, system: UnitSystem): DisplayUnit | undefined =>
  unit === 'any' ? undefined : foreignMeasure(unit, system)

/** A parameter of `any` unit has that of its role. */
const unitFor = (unit: string, role: string): string => (unit === 'any' ? (ROLES[role]?.unit ?? '') : unit)

/** @returns scope and id of what a form's `where` says */
export function scopeOf(where: string): { scope: ParamScope; scope_id?: string } {
  const [scope = '', scope_id] = where.split(' ')
  if (scope === 'type' || scope === 'equipment') return { scope, ...(scope_id !== undefined && { scope_id }) }
  return { scope: 'site' }
}

function paramCard(param: ParamCard, model: ParamPageModel): Html {
  const { name, unit, uses, min, max, perRole } = param
  const { unit_system } = model.building
  const isAny = unit === 'any'
  const bounds = isAny
    ? say`From ${min} to ${max}, in the unit of the role`
    : say`From ${paramWords(min, unit, unit_system)} to ${paramWords(max, unit, unit_system)}`
  const special = Object.entries(perRole)
  return html`<section class="card" id="param-${name}"><h2><code>${name}</code></h2>
<p>${bounds}; the rule's own value is ${isAny ? param.default : paramWords(param.default, unit, unit_system)}${special.length > 0 && html`, for ${special.map(([role, value], i) => html`${i > 0 && ', '}<code>${role}</code> ${value}`)}`}.</p>
${uses.length > 0 && !model.rule.isOverRoles && html`<ul>${uses.map(use => useLine(use, unit, model))}</ul>`}
<details class="figures"${model.form?.param === name && html` open`}><summary>Try or set another value</summary>${valueForm(param, model)}</details>
</section>`
}

function useLine({ value, source, equipment_ids }: ParamUse, unit: string, { building, equipment }: ParamPageModel): Html {
  const names = equipment_ids.map(id => equipment.find(({ equipment_id }) => equipment_id === id)?.name || id)
  const more = names.length - NAMED_MAX
  return html`<li><strong>${paramWords(value, unit, building.unit_system)}</strong> <span class="muted">${SOURCE_WORDS[source]}</span>: ${names.slice(0, NAMED_MAX).join(', ')}${more > 0 && say` and ${more} more`}</li>`
}

/** One form with two buttons: to look first, and to save. */
function valueForm(param: ParamCard, model: ParamPageModel): Html {
  const { name, unit, min, max } = param
  const { rule, form, at, user, csrf, building } = model
  const own = form?.param === name ? form : undefined
  const first = at.equipment_id === undefined ? 'site' : `equipment ${at.equipment_id}`
  const to = (verb: string) => `/params/${encodeURIComponent(rule.id)}/${verb}`
  const open = user?.mayOperate === true
  const measure = typedMeasure(unit, building.unit_system)
  const typed = (value: number | undefined) => (value === undefined || !measure ? value : toTyped(value, measure))
  const label = measure?.label ?? unitLabel(unit)
  return html`<form class="fields" method="post" action="${to('try')}">${csrfField(csrf)}
<input type="hidden" name="building" value="${building.building_id}"><input type="hidden" name="param" value="${name}">${measure && html`<input type="hidden" name="typed_in" value="${building.unit_system}">`}
<label>Value${unit !== 'any' && label !== 'none' && ` (${label})`} <input type="number" name="value" step="any" min="${typed(min)}" max="${typed(max)}" value="${typed(own?.value)}" required></label>
<label>For <select name="where">${places(model).map(([value, text]) => html`<option value="${value}"${value === (own?.where ?? first) && html` selected`}>${text}</option>`)}</select></label>
${rule.isOverRoles && html`<label>Role <select name="role">${unit !== 'any' && html`<option value="">every role</option>`}${model.roles.map(role => html`<option value="${role}"${role === own?.role && html` selected`}>${role}${unit === 'any' && ` (${unitLabel(unitFor(unit, role))})`}</option>`)}</select></label>`}
<label>Look back <select name="days">${DAYS_TRIED.map(days => html`<option value="${days}"${days === (own?.days ?? 7) && html` selected`}>${sayCountOf(days, 'day')}</option>`)}</select></label>
<label>Why <input name="note" maxlength="${NOTE_MAX}" value="${own?.note}"></label>
${operatorButton(user, `${name}-why`, say`What would this have found?`)}
${open && (model.ruleOwner === undefined ? html`<button class="primary" formaction="${to('set')}">Save</button>` : settingButton(model, `${name}-save`, say`Save`, 'primary'))}
</form>`
}

const places = ({ building, equipment }: ParamPageModel): [string, string][] => [
  ['site', say`the whole site ${building.site_id}`],
  ...[...new Set(equipment.map(({ equipment_type }) => equipment_type))].map((type): [string, string] => [
    `type ${type}`,
    say`all: ${EQUIPMENT_WORDS[type][1]}`,
  ]),
  ...equipment.map(({ equipment_id, name }): [string, string] => [`equipment ${equipment_id}`, name || equipment_id]),
]

function setByPeople({ settings, rule, equipment, building, here, user, csrf }: ParamPageModel): Html {
  if (settings.length === 0)
    return html`<section class="card" id="set"><h2>Set by people</h2><p>Nothing; the rule's own values count.</p></section>`
  return html`<section class="card" id="set"><h2>Set by people</h2><ul class="log">${settings.map((setting, i) => {
    const { scope, scope_id, role, param, value, unit, changed_by, changed_at, note, problem } = setting
    const where = scope === 'site' ? 'site' : `${scope} ${scope_id}`
    const name = equipment.find(({ equipment_id }) => equipment_id === scope_id)?.name
    return html`<li><code>${param}</code> <strong>${paramWords(value, thresholdUnit(unit, role), building.unit_system)}</strong> for ${placeWords(setting, name)} <span class="muted">by ${changed_by}, ${moment(changed_at, here)}${note !== undefined && `: ${note}`}</span>
${problem !== undefined && html`<span class="error">It does not count: ${problem}.</span>`}
<form method="post" action="/params/${encodeURIComponent(rule.id)}/remove">${csrfField(csrf)}<input type="hidden" name="building" value="${building.building_id}"><input type="hidden" name="param" value="${param}"><input type="hidden" name="where" value="${where}"><input type="hidden" name="role" value="${role}">${operatorButton(user, `remove-${i}`, say`Remove`)}</form></li>`
  })}</ul></section>`
}
