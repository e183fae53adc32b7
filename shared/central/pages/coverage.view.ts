/** The page of coverage: which rules can run on which equipment, and which role would let most more run. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { Building } from '#shared/core/model/model.ts'
import type { CoverageGain, CoverageLine } from '#shared/core/rules/report/rule-coverage.ts'
import type { LinkWait } from '#shared/core/rules/report/link-waits.ts'
import { buildingChoice } from '#shared/central/pages/settings/params.view.ts'
import { commissionTabs } from './points.view.ts'
import { roleWords } from '#shared/central/ui/measure.ts'
import { choiceList, fold, listSearch } from '#shared/central/ui/pager.ts'
import { hasWords, searchWords } from '#shared/core/search/search-index.ts'
import { equipmentLink, ruleHref } from '#shared/central/ui/links.ts'
import { choiceWords } from '#shared/central/pages/rules/rule-words.ts'
import { EQUIPMENT_WORDS } from '#shared/central/ui/equipment-words.ts'
import { say, sayCount, sayCountOf } from '#shared/node/http/language.ts'

type CoverageModel = {
  building: Building
  buildings: Building[]
  equipment: { equipment_id: string; name: string; can: number; all: number }[]
  chosen: string | undefined
  /** What was searched for in the lines. */
  q: string
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
${model.chosen !== undefined && html`${gainList(model)}${lineGroups(model)}`}`

const equipmentList = ({ equipment, chosen, building }: CoverageModel): Html =>
  html`<section class="card"><h2>Equipment</h2>${choiceList(
    equipment.map(({ equipment_id, name, can, all }) => ({
      href: `/coverage?${new URLSearchParams({ building: building.building_id, equipment: equipment_id })}`,
      text: say`${name}: ${can} of ${sayCountOf(all, 'rule')}`,
      isChosen: equipment_id === chosen,
    })),
  )}</section>`

/** Ids that a line lists; the answer of the API has all. */
const IDS_SHOWN = 20

function waitList({ waits }: CoverageModel): Html | false {
  if (waits.length === 0) return false
  return html`<section class="card"><h2>Waiting for a link</h2>
<p class="muted">State it as <code>parent</code> in column_map.json of a package, or as <code>parent_id</code> of the equipment.</p>
${fold(
  say`Links to state: ${waits.length}`,
  html`<ul class="log">${waits.map(
    wait =>
      html`<li>${waitWords(wait)}: ${firstOf(wait.equipment_ids)} <span class="muted">${firstOf(wait.rule_ids)}</span></li>`,
  )}</ul>`,
)}</section>`
}

/** What waits, and for what that serves it. */
function waitWords({ equipment_type, served_by, equipment_ids, rule_ids }: LinkWait): string {
  const kind = EQUIPMENT_WORDS[equipment_type][equipment_ids.length === 1 ? 0 : 1]
  const server = served_by === 'vav' ? say`Terminal unit` : EQUIPMENT_WORDS[served_by][0]
  return say`${sayCount(equipment_ids.length)} ${kind} without a link (${server}): ${sayCountOf(rule_ids.length, 'rule')}`
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
        html`<li><details class="figures"><summary><span>${choiceWords(role)}: ${sayCountOf(rule_ids.length, 'rule')}</span></summary><p class="muted">${rule_ids.join(', ')}</p></details></li>`,
    )}</ul></section>`
}

/** Lines that stand open: a group of more is folded while nobody searches in it. */
const LINES_OPEN = 4

/** Rules that lack something come first; each group is folded, so that the page is short where a kind of equipment has many rules. */
function lineGroups(model: CoverageModel): Html {
  const { lines, building, chosen = '', equipment, q } = model
  const name = equipment.find(one => one.equipment_id === chosen)?.name ?? chosen
  const shown = lines.filter(line => hasWords(lineWords(line), q))
  const [lacking, running] = [shown.filter(one => one.missing.length > 0), shown.filter(one => one.missing.length === 0)]
  const group = (some: CoverageLine[], words: string) =>
    some.length > 0 && fold(words, lineTable(some, building), q !== '' || some.length <= LINES_OPEN)
  return html`<section class="card"><h2>Rules</h2>
<p>${equipmentLink({ building_id: building.building_id, equipment_id: chosen }, name)}</p>
${listSearch({ path: '/coverage', state: { building: building.building_id, equipment: chosen }, q, label: say`Rule or role` })}
${group(lacking, say`Cannot run: ${sayCountOf(lacking.length, 'rule')}`)}${group(running, say`Can run: ${sayCountOf(running.length, 'rule')}`)}
${shown.length === 0 && html`<p>${q === '' ? say`No rule is for this kind of equipment.` : say`Nothing fits this filter.`}</p>`}</section>`
}

const lineWords = ({ title, rule_id, missing, optional }: CoverageLine): string =>
  searchWords(say(title), rule_id, ...[...missing, ...optional].flatMap(role => [role, roleWords(role)]))

const lineTable = (
  lines: CoverageLine[],
  building: Building,
): Html => html`<table class="tried"><thead><tr><th scope="col">Rule</th><th scope="col">Lacks</th></tr></thead>
<tbody>${lines.map(
  ({ rule_id, title, missing, optional }) => html`<tr>
<td data-label="Rule"><div><a href="${ruleHref(rule_id, building.building_id)}">${say(title)}</a> <span class="muted">${rule_id}</span></div></td>
<td data-label="Lacks"><div>${missing.length > 0 ? rolesList(missing) : optional.length > 0 ? html`<span class="muted">would also look at ${rolesList(optional)}</span>` : say`nothing`}</div></td>
</tr>`,
)}</tbody></table>`

const rolesList = (roles: string[]): Html[] => roles.map((role, i) => html`${i > 0 && ', '}${choiceWords(role)}`)
