/** The page of coverage: which rules can run on which equipment, and which role would let most more run. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building } from '#shared/core/model/model.ts'
import type { CoverageGain, CoverageLine } from '#shared/core/rules/report/rule-coverage.ts'
import { describeWait, type LinkWait } from '#shared/core/rules/report/link-waits.ts'
import { buildingChoice } from '#shared/central/pages/settings/params.view.ts'
import { commissionTabs } from './points.view.ts'
import { equipmentLink, ruleHref } from '#shared/central/ui/links.ts'
import { choiceWords } from '#shared/central/pages/rules/rule-words.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

type CoverageModel = {
  building: Building
  buildings: Building[]
  equipment: { equipment_id: string; name: string; can: number; all: number }[]
  chosen: string | undefined
  /** Of the whole building. */
  waits: LinkWait[]
  /** Of the equipment that was chosen. */
  lines: CoverageLine[]
  gains: CoverageGain[]
}

/** Gains that are worth a look; the CSV has what each rule lacks. */
const GAINS_SHOWN = 12

export const coverageBody = (model: CoverageModel): Html => html`<h1>Coverage</h1>
<p class="lead">Which rules can run, and what the others lack.</p>
${commissionTabs('/coverage', model.building.building_id)}
${buildingChoice(model.buildings, model.building, '/coverage')}
${model.equipment.length ? equipmentList(model) : html`<section class="card"><p>This building has no equipment yet.</p></section>`}
${waitList(model)}
${model.chosen !== undefined && html`${gainList(model)}${lineTable(model)}`}`

const equipmentList = ({ equipment, chosen, building }: CoverageModel): Html =>
  html`<section class="card"><h2>Equipment</h2><ul class="choices">${equipment.map(
    ({ equipment_id, name, can, all }) =>
      html`<li><a href="/coverage?building=${encodeURIComponent(building.building_id)}&amp;equipment=${encodeURIComponent(equipment_id)}"${equipment_id === chosen && html` aria-current="true"`}>${name}: ${can} of ${sayCountOf(all, 'rule')}</a></li>`,
  )}</ul></section>`

/** Ids that a line lists; the answer of the API has all. */
const IDS_SHOWN = 20

function waitList({ waits }: CoverageModel): Html | false {
  if (waits.length === 0) return false
  return html`<section class="card"><h2>Waiting for a link</h2>
<p class="muted">State it as <code>parent</code> in column_map.json of a package, or as <code>parent_id</code> of the equipment.</p>
<ul class="log">${waits.map(
    wait =>
      html`<li>${describeWait(wait)}: ${firstOf(wait.equipment_ids)} <span class="muted">${firstOf(wait.rule_ids)}</span></li>`,
  )}</ul></section>`
}

const firstOf = (ids: string[]): string =>
  ids.length > IDS_SHOWN ? say`${ids.slice(0, IDS_SHOWN).join(', ')} and ${ids.length - IDS_SHOWN} more` : ids.join(', ')

function gainList({ gains, building, chosen = '' }: CoverageModel): Html | false {
  if (gains.length === 0) return false
  return html`<section class="card"><h2>What would help most</h2>
<p class="muted">One role by itself lets these rules run. <a href="/points?building=${encodeURIComponent(building.building_id)}&amp;equipment=${encodeURIComponent(chosen)}">Give points their roles</a></p>
<ul class="log">${gains
    .slice(0, GAINS_SHOWN)
    .map(
      ({ role, rule_ids }) =>
        html`<li>${choiceWords(role)}: ${sayCountOf(rule_ids.length, 'rule')} <span class="muted">${rule_ids.join(', ')}</span></li>`,
    )}</ul></section>`
}

const lineTable = ({ lines, building, chosen = '', equipment }: CoverageModel): Html => html`<section class="card"><h2>Rules</h2>
<p>${equipmentLink({ building_id: building.building_id, equipment_id: chosen }, equipment.find(one => one.equipment_id === chosen)?.name ?? chosen)}</p>
<table class="tried"><thead><tr><th scope="col">Rule</th><th scope="col">Can run</th><th scope="col">Lacks</th></tr></thead>
<tbody>${lines.map(
  ({ rule_id, title, missing, optional }) => html`<tr>
<td data-label="Rule"><div><a href="${ruleHref(rule_id, building.building_id)}">${say(title)}</a> <span class="muted">${rule_id}</span></div></td>
<td data-label="Can run"><div>${missing.length === 0 ? say`yes` : say`no`}</div></td>
<td data-label="Lacks"><div>${missing.length > 0 ? rolesList(missing) : optional.length > 0 ? html`<span class="muted">would also look at ${rolesList(optional)}</span>` : say`nothing`}</div></td>
</tr>`,
)}</tbody></table></section>`

const rolesList = (roles: string[]): Html[] => roles.map((role, i) => html`${i > 0 && ', '}${choiceWords(role)}`)
