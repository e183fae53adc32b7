/** The path from points to the first faults: each step says what is left, and leads to the page that does it. */
import { COMMISSION_STEPS, type CommissionFacts, type CommissionStep, type StepState } from '#shared/core/commission-steps.ts'
import type { Building } from '#shared/core/model/model.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField, operatorButton, type User } from '#shared/central/ui/frame.ts'
import { type State, stateIcon } from '#shared/central/ui/icons.ts'
import { type Here, momentAge } from '#shared/central/ui/moment.ts'
import { type RuleOwner, ruleOwnerNotice } from '#shared/central/ui/words.ts'
import { buildingChoice } from '#shared/central/pages/settings/params.view.ts'
import { say, sayCount, sayCountOf, words } from '#shared/node/http/language.ts'

type CommissionModel = {
  building: Building
  buildings: Building[]
  facts: CommissionFacts
  steps: Record<CommissionStep, StepState>
  /** The appliance that runs the building's rules itself, where this process does not. */
  ruleOwner: RuleOwner | undefined
  here: Here
  user: User | undefined
  csrf: string
}

export const COMMISSION_PATH = '/commission'
export const commissionHref = (page: string, { building_id }: Building): string =>
  `${COMMISSION_PATH}${page}?building=${encodeURIComponent(building_id)}`
/** Above the title of each page of the path. */
export const commissionCrumbs = (building: Building): Html =>
  html`<p class="crumbs"><a href="${commissionHref('', building)}">Commission ${building.name}</a></p>`

const MARKS: Record<StepState, [State, string]> = words(
  {
    done: ['ok', 'done'],
    open: ['stale', 'open'],
    later: ['disabled', 'later'],
  },
  '1',
)
const TITLES: Record<CommissionStep, string> = words({
  points: 'Find points',
  equipment: 'Put points into equipment',
  roles: 'Say what each point is',
  units: 'Check units against values',
  coverage: 'See which rules can run',
  run: 'Run the rules',
})

export function commissionBody(model: CommissionModel): Html {
  const { building, buildings, steps, ruleOwner } = model
  const left = COMMISSION_STEPS.filter(step => steps[step] !== 'done').length
  return html`<h1>Commission</h1>
<p class="lead">From points to the first faults. ${left === 0 ? say`Every step is done.` : say`${sayCountOf(left, 'step')} left of ${COMMISSION_STEPS.length}.`} You may leave at any time: where it stands follows from what is stored.</p>
${buildingChoice(buildings, building, COMMISSION_PATH)}
${ruleOwnerNotice(building.name, ruleOwner)}
<ol class="steps">${COMMISSION_STEPS.map(step => stepItem(step, model))}</ol>
<section class="card"><h2>In a spreadsheet</h2><p><a href="/api/model/export?building_id=${encodeURIComponent(building.building_id)}&amp;format=csv" download>Download the points as CSV</a>, fill in equipment and roles, and <a href="${commissionHref('/sheet', building)}">bring it back</a>. What would change is shown before anything is saved.</p></section>`
}

const stepItem = (step: CommissionStep, model: CommissionModel): Html => html`<li class="card" id="step-${step}">
<h2>${TITLES[step]} ${stateIcon(...MARKS[model.steps[step]])}</h2>
${model.steps[step] === 'later' ? html`<p class="muted">${LATER[step]}</p>` : STEPS[step](model)}</li>`

const LATER: Record<CommissionStep, string> = words({
  points: '',
  equipment: 'Needs points.',
  roles: 'Needs points in equipment.',
  units: 'Needs points with a role.',
  coverage: 'Needs points with a role.',
  run: 'Needs a rule that can run.',
})

const STEPS: Record<CommissionStep, (model: CommissionModel) => Html> = {
  points: ({ facts: { points, silent } }) => {
    if (silent === undefined)
      return html`<p>${points === 0 ? say`There are no points yet: a box brings them when it is enrolled, a package when it is imported.` : `${sayCountOf(points, 'point')}.`}</p><p><a href="/import">Import a package</a></p>`
    const quiet = silent > 0 && say`, ${sayCount(silent)} of them without a present value`
    return html`<p>${points === 0 ? say`No device is read yet.` : html`${sayCountOf(points, 'point')}${quiet}.`}</p>
<p><a href="/discover">Discover BACnet devices</a>, <a href="/modbus">read Modbus registers</a>, or <a href="/devices">look at the devices</a></p>`
  },
  equipment: ({ building, facts: { points, unplaced } }) =>
    html`<p>${unplaced === 0 ? say`Every point belongs to equipment.` : say`${sayCount(unplaced)} of ${sayCountOf(points, 'point')} belong to no equipment. Points that no rule needs may stay so.`}</p>
<p><a href="${commissionHref('/equipment', building)}">Choose points and put them into equipment</a></p>`,
  roles: ({ building, facts: { withoutRole, likely } }) =>
    html`<p>${withoutRole === 0 ? say`Every point of equipment has a role.` : say`${sayCountOf(withoutRole, 'point')} without a role; ${sayCount(likely)} have a likely suggestion.`}</p>
<p><a href="${commissionHref('/roles', building)}">Accept suggestions with their reasons</a>, or <a href="/points?building=${encodeURIComponent(building.building_id)}">go through one equipment after the other</a></p>`,
  units: ({ building, facts: { doubtful } }) =>
    html`<p>${doubtful === 0 ? say`The values of the last day fit the units of all points with a role.` : say`${sayCountOf(doubtful, 'point')} with values that do not fit their unit.`}</p>
<p><a href="${commissionHref('/units', building)}">Look at units</a></p>`,
  coverage: ({ building, facts: { canRun, cannotRun } }) =>
    html`<p>${sayCount(canRun)} of ${sayCountOf(canRun + cannotRun, 'check')} can run: a check is a rule on one equipment.</p>
<p><a href="/coverage?building=${encodeURIComponent(building.building_id)}">See what the others lack</a></p>`,
  run: ({ building, facts: { lastRunAt }, ruleOwner, here, user, csrf }) => html`<p>${
    lastRunAt === null ? say`No run yet.` : html`The last run ended ${momentAge(lastRunAt, here)}.`
  } <a href="/faults?building=${encodeURIComponent(building.building_id)}">Faults</a></p>
${ruleOwner === undefined && html`<form method="post" action="/runs">${csrfField(csrf)}<input type="hidden" name="building" value="${building.building_id}">${operatorButton(user, 'why-run', say`Run now`)}</form>`}`,
}
