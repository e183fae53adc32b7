/** The page of baselines: the values that equipment is compared with, their days, and the form that resets one. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building } from '#shared/core/model/model.ts'
import type { StoredBaseline, StoredReset } from '#shared/core/tuning.ts'
import { coldWords, dayLists, valueWords } from './baseline-words.ts'
import { NOTE_MAX } from '#shared/central/commands/command.ts'
import { csrfField, type User } from '#shared/central/ui/frame.ts'
import { formatMoment, type Here, moment } from '#shared/central/ui/moment.ts'
import { roleWords } from '#shared/central/ui/measure.ts'
import { choiceList, fold, listSearch } from '#shared/central/ui/pager.ts'
import { hasWords, searchWords } from '#shared/core/search/search-index.ts'
import { buildingChoice, tuningTabs } from './params.view.ts'
import { settingButton } from '#shared/central/ui/setting-button.ts'
import { type RuleOwner, ruleOwnerNotice, titleOf } from '#shared/central/ui/words.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

export type BaselinesModel = {
  building: Building
  buildings: Building[]
  /** Equipment that has baselines, by name. */
  equipment: { equipment_id: string; name: string; baselines: number; cold: number; reset: number }[]
  /** Of the equipment that was chosen. */
  shown: { baseline: StoredBaseline; title: string; reset: StoredReset | undefined }[]
  chosen: string | undefined
  /** What was searched for. */
  q: string
  /** The appliance that runs the building's rules itself, where this process does not. */
  ruleOwner: RuleOwner | undefined
  here: Here
  user: User | undefined
  csrf: string
}

export const baselinesBody = (model: BaselinesModel): Html => html`<h1>Baselines</h1>
<p class="lead">What a rule compares equipment with: its own past days, never the day itself.</p>
${tuningTabs('/baselines', model.building.building_id)}
${buildingChoice(model.buildings, model.building, '/baselines')}
${ruleOwnerNotice(model.building.name, model.ruleOwner)}
${model.equipment.length ? equipmentList(model) : html`<section class="card"><p>No run has seen a baseline here yet.</p></section>`}
${model.chosen !== undefined && ruleGroups(model)}`

const equipmentList = ({ equipment, chosen, building }: BaselinesModel): Html =>
  html`<section class="card"><h2>Equipment</h2>${choiceList(
    equipment.map(({ equipment_id, name, ...counts }) => ({
      href: `/baselines?${new URLSearchParams({ building: building.building_id, equipment: equipment_id })}`,
      text: `${name}: ${countsWords(counts)}`,
      isChosen: equipment_id === chosen,
    })),
  )}</section>`

const countsWords = ({
  baselines,
  cold,
  reset,
}: Pick<BaselinesModel['equipment'][number], 'baselines' | 'cold' | 'reset'>): string =>
  [
    sayCountOf(baselines, 'value'),
    ...(cold > 0 ? [say`${cold} with too few days`] : []),
    ...(reset > 0 ? [say`${reset} begun anew`] : []),
  ].join(', ')

type Shown = BaselinesModel['shown'][number]

/** The values of a rule are folded under its title: a rule over every role has one for each. */
function ruleGroups(model: BaselinesModel): Html {
  const { building, chosen = '', q } = model
  const found = model.shown.map((one, index) => ({ one, index })).filter(({ one }) => hasWords(baselineWords(one), q))
  return html`${listSearch({ path: '/baselines', state: { building: building.building_id, equipment: chosen }, q, label: say`Rule or role` })}
${[...Map.groupBy(found, ({ one }) => one.baseline.rule_id).values()].map(rows =>
  fold(
    groupWords(
      rows.map(({ one }) => one),
      model,
    ),
    html`${rows.map(({ one, index }) => card(one, index, model))}`,
    q !== '',
  ),
)}
${found.length === 0 && html`<p>Nothing fits this filter.</p>`}`
}

const baselineWords = ({ title, baseline: { rule_id, name, role } }: Shown): string =>
  searchWords(say(title), rule_id, name, role, role && roleWords(role))

function groupWords(rows: Shown[], { building }: BaselinesModel): Html {
  const [{ baseline, title }] = rows as [Shown]
  const cold = rows.filter(one => one.baseline.cold).length
  const reset = rows.filter(one => one.reset !== undefined).length
  const alone = `${valueWords(baseline, building.unit_system)}${baseline.cold ? `, ${say`too few days yet`}` : ''}`
  return html`<strong>${say(title)}</strong> <span class="muted">${rows.length === 1 && reset === 0 ? alone : countsWords({ baselines: rows.length, cold, reset })}</span>`
}

function card({ baseline, title, reset }: Shown, index: number, model: BaselinesModel): Html {
  const { rule_id, name, role, days_used, cold, date } = baseline
  const { unit_system } = model.building
  const coldness = coldWords(baseline, unit_system)
  return html`<section class="card" id="${rule_id}"><h2>${titleOf({ title, ...(role !== undefined && { role }) })}</h2>
<p class="muted"><a href="/params/${encodeURIComponent(rule_id)}?building=${encodeURIComponent(model.building.building_id)}&amp;equipment=${encodeURIComponent(baseline.equipment_id)}"><code>${rule_id}</code></a> <code>${name}</code>, as it stood on ${date}</p>
<p><strong>${valueWords(baseline, unit_system)}</strong> <span class="muted">${cold ? say`too few days yet` : say`from ${sayCountOf(days_used, 'day')}`}</span></p>
${coldness !== undefined && html`<p>${coldness}.</p>`}
${dayLists(baseline)}
${reset ? resetSaid(reset, index, model) : resetForm(baseline, index, model)}
</section>`
}

const resetSaid = (
  reset: StoredReset,
  index: number,
  model: BaselinesModel,
): Html => html`<p class="notice">Begun anew at ${formatMoment(reset.at, model.here)} by ${reset.changed_by}, ${moment(reset.changed_at, model.here)}: ${reset.note}. The next run takes it.</p>
<form method="post" action="/baselines/restore">${keyFields(reset, model)}${settingButton(model, `restore-${index}`, say`Let the earlier days count again`)}</form>`

const resetForm = (
  baseline: StoredBaseline,
  index: number,
  model: BaselinesModel,
): Html => html`<details class="figures"><summary>Begin anew</summary><form class="fields" method="post" action="/baselines/reset">${keyFields(baseline, model)}
<p class="muted">After a repair or a change: days before now no longer count. Findings of earlier days keep what they were compared with.</p>
<label>Why <input name="note" maxlength="${NOTE_MAX}" required></label>
${settingButton(model, `reset-${index}`, say`Begin anew`)}</form></details>`

const keyFields = (
  { equipment_id, rule_id, role, name }: Pick<StoredReset, 'equipment_id' | 'rule_id' | 'role' | 'name'>,
  { building, csrf }: BaselinesModel,
): Html =>
  html`${csrfField(csrf)}${Object.entries({
    building_id: building.building_id,
    equipment_id,
    rule_id,
    role: role ?? '',
    name,
  }).map(([field, value]) => html`<input type="hidden" name="${field}" value="${value}">`)}`
