/** The page of parameters: what people have set in a building, and the rules that have something to set, by kind of equipment. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building, EquipmentType } from '#shared/core/model/model.ts'
import type { StoredSetting } from '#shared/core/tuning.ts'
import { formatParam, thresholdUnit } from '#shared/central/ui/measure.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { paramWords, placeWords } from './param-words.ts'
import { type RuleOwner, ruleOwnerNotice } from '#shared/central/ui/words.ts'
import { equipmentWords } from '#shared/central/pages/rules/rule-words.ts'
import { listSearch, type ListPart, pager } from '#shared/central/ui/pager.ts'
import { say, sayFigure, sayMade, words } from '#shared/node/http/language.ts'

/** `set`: only what people have set. */
export const PARAMS_SHOWN = ['all', 'set'] as const
export type ParamsQuery = { q: string; type?: EquipmentType; show: (typeof PARAMS_SHOWN)[number] }
export type TunableRule = {
  id: string
  title: string
  equipment: (EquipmentType | 'any')[]
  /** `isSet`: people have set another value somewhere in the building. */
  params: { name: string; value: number; unit: string; isSet: boolean }[]
}
/** @returns the kind of equipment under which a rule is listed: the first that it is for */
export const firstKindOf = ({ equipment: [first] }: Pick<TunableRule, 'equipment'>): EquipmentType | 'any' => first ?? 'any'

export type ParamsModel = {
  building: Building
  buildings: Building[]
  settings: (StoredSetting & { problem?: string })[]
  query: ParamsQuery
  /** Rules of one kind of equipment after the other, as `firstKindOf` names it. */
  part: ListPart<TunableRule>
  /** Kinds of equipment for which a rule has parameters. */
  types: EquipmentType[]
  equipmentName: (equipment_id: string) => string
  /** The appliance that runs the building's rules itself, where this process does not. */
  ruleOwner: RuleOwner | undefined
  here: Here
}

export const paramsBody = (model: ParamsModel): Html => html`<h1>Parameters</h1>
<p class="lead">The values that rules compare with, and the past that they compare equipment with.</p>
${tuningTabs('/params', model.building.building_id)}
${buildingChoice(model.buildings, model.building, '/params')}
${ruleOwnerNotice(model.building.name, model.ruleOwner)}
<section class="card"><h2>Set by people</h2>${settingList(model)}</section>
${search(model)}
${ruleTables(model)}`

/** @param current one of the two pages, or undefined on a page below one */
export const tuningTabs = (current: '/params' | '/baselines', building_id: string): Html =>
  html`<nav class="tabs" aria-label="What can be tuned"><ul>${[
    ['/params', say`Parameters`],
    ['/baselines', say`Baselines`],
  ].map(
    ([href, text]) =>
      html`<li><a href="${href}?building=${encodeURIComponent(building_id)}"${href === current && html` aria-current="true"`}>${text}</a></li>`,
  )}</ul></nav>`

/** Only where there are several. */
export const buildingChoice = (buildings: Building[], { building_id }: Building, action: string): Html | false =>
  buildings.length > 1 &&
  html`<form class="filter" method="get" action="${action}" data-submit-on-change><label>Building <select name="building">${buildings.map(
    one => html`<option value="${one.building_id}"${one.building_id === building_id && html` selected`}>${one.name}</option>`,
  )}</select></label><button>Apply</button></form>`

function settingList({ settings, building, equipmentName, here }: ParamsModel): Html {
  if (settings.length === 0) return html`<p>Nothing; every rule has its own values.</p>`
  return html`<ul class="log">${settings.map(setting => {
    const { rule_id, param, value, unit, role, scope_id, changed_by, changed_at, problem } = setting
    return html`<li><a href="${ruleHref(rule_id, building)}"><code>${rule_id}</code></a> <code>${param}</code> <strong>${paramWords(value, thresholdUnit(unit, role), building.unit_system)}</strong> for ${placeWords(setting, equipmentName(scope_id))} <span class="muted">by ${changed_by}, ${moment(changed_at, here)}</span>
${problem !== undefined && html`<span class="error">It does not count: ${sayMade(problem)}.</span>`}</li>`
  })}</ul>`
}

const ruleHref = (rule_id: string, { building_id }: Building): string =>
  `/params/${encodeURIComponent(rule_id)}?building=${encodeURIComponent(building_id)}`

const SHOWN_WORDS: Record<ParamsQuery['show'], string> = words({ all: 'all', set: 'set by people' })

const search = ({ query: { q, type, show }, types, building, buildings }: ParamsModel): Html =>
  listSearch({
    path: '/params',
    state: { building: buildings.length > 1 ? building.building_id : undefined },
    q,
    label: say`Rule, id or parameter`,
    fields: html`<label>Equipment <select name="type"><option value="">any</option>${types.map(
      one => html`<option value="${one}"${one === type && html` selected`}>${equipmentWords([one])}</option>`,
    )}</select></label>
<label>Show <select name="show">${PARAMS_SHOWN.map(
      one => html`<option value="${one}"${one === show && html` selected`}>${SHOWN_WORDS[one]}</option>`,
    )}</select></label>`,
  })

function ruleTables({ part, query, building }: ParamsModel): Html {
  if (part.total === 0)
    return html`<section class="card quiet-card"><h2>No parameter is like that</h2><p>Search for a part of a rule or of a parameter, or <a href="${listHref({ q: '', show: 'all' }, building, 1)}">show all</a>.</p></section>`
  return html`${[...Map.groupBy(part.rows, firstKindOf)].map(
    ([kind, rules]) =>
      html`<section class="card"><h2>${equipmentWords([kind])}</h2><table class="tried"><thead><tr><th scope="col">Rule</th><th scope="col">For</th><th scope="col">Parameters</th></tr></thead>
<tbody>${rules.map(rule => ruleRow(rule, building))}</tbody></table></section>`,
  )}
${pager(part, page => listHref(query, building, page))}`
}

function listHref({ q, type, show }: ParamsQuery, { building_id }: Building, page: number): string {
  return `/params?${new URLSearchParams({
    building: building_id,
    ...(q !== '' && { q }),
    ...(type && { type }),
    ...(show !== 'all' && { show }),
    ...(page > 1 && { page: String(page) }),
  })}`
}

const ruleRow = ({ id, title, equipment, params }: TunableRule, building: Building): Html => html`<tr>
<td data-label="Rule"><div><a href="${ruleHref(id, building)}">${say(title)}</a> <span class="muted">${id}</span></div></td>
<td data-label="For"><div>${equipmentWords(equipment)}</div></td>
<td data-label="Parameters"><div>${params.map((param, i) => html`${i > 0 && ', '}${paramValue(param, building)}`)}</div></td>
</tr>`

/** A parameter with the rule's own value, marked where people have set another. */
const paramValue = ({ name, value, unit, isSet }: TunableRule['params'][number], { unit_system }: Building): Html =>
  html`<code>${name}</code> ${unit === 'any' ? sayFigure(value) : formatParam(value, unit, unit_system)}${isSet && html` <strong>set by people</strong>`}`
