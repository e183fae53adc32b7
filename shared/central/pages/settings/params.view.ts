/** The page of parameters: what people have set in a building, and the rules that have something to set. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building } from '#shared/core/model/model.ts'
import type { StoredSetting } from '#shared/core/tuning.ts'
import { thresholdUnit } from '#shared/central/ui/measure.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { paramWords, placeWords } from './param-words.ts'
import { type RuleOwner, ruleOwnerNotice } from '#shared/central/ui/words.ts'
import { equipmentWords } from '#shared/central/pages/rules/rule-words.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'
import { say } from '#shared/node/http/language.ts'

type ParamsModel = {
  building: Building
  buildings: Building[]
  settings: (StoredSetting & { problem?: string })[]
  rules: { id: string; title: string; equipment: (EquipmentType | 'any')[]; params: string[] }[]
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
<section class="card"><h2>Rules</h2>${ruleTable(model)}</section>`

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
${problem !== undefined && html`<span class="error">It does not count: ${problem}.</span>`}</li>`
  })}</ul>`
}

const ruleHref = (rule_id: string, { building_id }: Building): string =>
  `/params/${encodeURIComponent(rule_id)}?building=${encodeURIComponent(building_id)}`

const ruleTable = ({
  rules,
  building,
}: ParamsModel): Html => html`<table class="tried"><thead><tr><th scope="col">Rule</th><th scope="col">For</th><th scope="col">Parameters</th></tr></thead>
<tbody>${rules.map(
  ({ id, title, equipment, params }) => html`<tr>
<td data-label="Rule"><div><a href="${ruleHref(id, building)}">${say(title)}</a> <span class="muted">${id}</span></div></td>
<td data-label="For"><div>${equipmentWords(equipment)}</div></td>
<td data-label="Parameters"><div>${params.map((name, i) => html`${i > 0 && ', '}<code>${name}</code>`)}</div></td>
</tr>`,
)}</tbody></table>`
