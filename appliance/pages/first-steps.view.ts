/** The path from a box that was just switched on to one that reads a building: what is left, and the page that does it. */
import { STICK_FILES } from '#shared/core/system/stick-files.ts'
import { formatDuration } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField, type User } from '#shared/central/ui/frame.ts'
import { type State, stateIcon } from '#shared/central/ui/icons.ts'
import { type Here, momentNow } from '#shared/central/ui/moment.ts'
import { FIRST_STEPS, type FirstFacts, type FirstState, type FirstStep, firstSteps, firstStepsLeft } from '../core/first-steps.ts'
import type { BoxEnrolmentState } from '../kit/enrolment.ts'
import type { SiteSettings } from '../store/site.ts'
import { say, sayCountOf, words } from '#shared/node/http/language.ts'

export const FIRST_STEPS_PATH = '/first-steps'

type FirstStepsModel = {
  facts: FirstFacts
  building: SiteSettings['building']
  /** The stored building counts only after a start. */
  waitsForStart: boolean
  /** Whether this program can be started again from here. */
  restarts: boolean
  setsNetwork: boolean
  addresses: { name: string; address: string }[]
  enrolment: BoxEnrolmentState
  /** Devices that do not answer. */
  silent: number
  /** Of the building with which the program runs. */
  commission: { points: number; left: number }
  here: Here
  user: User | undefined
  csrf: string
}

const MARKS: Record<FirstState | 'later', [State, string]> = words(
  {
    done: ['ok', 'done'],
    open: ['stale', 'open'],
    choice: ['disabled', 'as you like'],
    later: ['disabled', 'later'],
  },
  '1',
)
const TITLES: Record<FirstStep, string> = words({
  people: 'Sign in as yourself',
  building: 'Say which building this is',
  clock: 'Look at network and clock',
  hub: 'Connect to a hub, or work alone',
  devices: 'Find the devices',
})

export function firstStepsBody(model: FirstStepsModel): Html {
  const steps = firstSteps(model.facts)
  const { commission } = model
  // The commissioning is a path of its own and one step of this one.
  const left = firstStepsLeft(model.facts) + (commission.left > 0 ? 1 : 0)
  const mark = MARKS[steps.devices === 'open' ? 'later' : commission.left === 0 ? 'done' : 'open']
  return html`<h1>First steps</h1>
<p class="lead">From a new box to one that reads a building. ${left === 0 ? say`Nothing is left here.` : say`${sayCountOf(left, 'step')} left.`} You may leave at any time: where it stands follows from what is stored.</p>
${!model.user?.mayOperate && html`<p class="notice">You can read this. The changes need an operator or an admin.</p>`}
<ol class="steps">${FIRST_STEPS.map(
    step => html`<li class="card" id="step-${step}">
<h2>${TITLES[step]} ${stateIcon(...MARKS[steps[step]])}</h2>
${STEPS[step](model)}</li>`,
  )}
<li class="card" id="step-commission">
<h2>Commission the building ${stateIcon(...mark)}</h2>
${
  steps.devices === 'open'
    ? html`<p class="muted">Needs devices.</p>`
    : html`<p>${commission.left === 0 ? say`Every step of the commissioning is done.` : say`${sayCountOf(commission.left, 'step')} left there: from ${sayCountOf(commission.points, 'point')} to the first faults.`}</p><p><a href="/commission">Commission</a></p>`
}</li></ol>`
}

const isAdmin = ({ user }: FirstStepsModel) => user?.role === 'admin'
const forAdmin = (model: FirstStepsModel, links: Html): Html =>
  isAdmin(model) ? html`<p>${links}</p>` : html`<p class="muted">An admin does this.</p>`

const STEPS: Record<FirstStep, (model: FirstStepsModel) => Html> = {
  people: model =>
    html`<p>${
      model.facts.admins > 0
        ? say`${sayCountOf(model.facts.admins, 'admin')} with a name and password of their own.`
        : say`Nobody has a name and a password of their own yet. The login admin of the console is shared, and its password was shown there once: add yourself as an admin, sign in as that person, and keep the other for the day when nobody else can.`
    }</p>${forAdmin(model, html`<a href="/users">Add people</a>`)}`,
  building: model => {
    const { building, waitsForStart, facts } = model
    const isSet = firstSteps(facts).building === 'done'
    const words = html`<strong>${building.name}</strong>, <code>${building.building_id}</code>, times in ${building.timezone}, pages in ${building.unit_system === 'si' ? '°C' : '°F'}`
    return html`<p>${isSet ? html`${words}.` : html`It has its first name still: ${words}. Change it before devices are read, because a hub knows the building by its id.`}</p>
${waitsForStart && restartPart(model)}${forAdmin(model, html`<a href="/site">Name, id, time zone and units</a>`)}`
  },
  clock: model => {
    const { addresses, setsNetwork, here } = model
    return html`<p>It is ${momentNow(here)} in ${here.timezone}. ${clockWords(model)}</p>
<p>${addresses.length === 0 ? html`<strong>The box has no address in a network.</strong>` : html`Addresses: ${addresses.map(({ name, address }, i) => html`${i > 0 && ', '}<code>${name}</code> <code>${address}</code>`)}.`} A time alone comes with the file <code>${STICK_FILES.clock}</code> on a USB stick.</p>
${setsNetwork && forAdmin(model, html`<a href="/network">Set addresses and time servers</a>`)}`
  },
  hub: model =>
    html`<p>${hubWords(model.enrolment)}</p>${forAdmin(
      model,
      html`<a href="/hub">Connect to a hub</a>. Does this box take the place of another? <a href="/backups">Restore a backup</a> says how.`,
    )}`,
  devices: ({ facts, silent }) =>
    html`<p>${facts.devices === 0 ? say`No device is read yet.` : `${sayCountOf(facts.devices, 'device')}${silent > 0 ? say`, of which ${silent} do not answer` : ''}.`}</p>
<p><a href="/discover">Discover BACnet devices</a>, <a href="/modbus">read Modbus registers</a>, or <a href="/devices">bring a list of points</a></p>`,
}

const restartPart = (model: FirstStepsModel): Html =>
  model.restarts && isAdmin(model)
    ? html`<p class="notice">This is stored and counts from the next start of the program.</p><form method="post" action="/system/restart">${csrfField(model.csrf)}<input type="hidden" name="sure" value="yes"><button>Start again now</button><p class="muted">Takes about half a minute. Polling stops meanwhile; nothing that is stored is lost.</p></form>`
    : html`<p class="notice">This is stored and counts from the next start of the program.</p>`

function clockWords({ facts: { clock_synced, clock_offset_ms } }: FirstStepsModel): Html {
  const words =
    clock_synced === true
      ? say`A time server sets the clock.`
      : clock_synced === false
        ? html`<strong>No time server has set the clock.</strong>`
        : say`Whether a time server sets the clock is not known here: compare it with your own.`
  const offset = clock_offset_ms !== null && html` It differs from the hub's by ${formatDuration(Math.abs(clock_offset_ms))}.`
  return html`${words}${offset}`
}

function hubWords(enrolment: BoxEnrolmentState): Html {
  switch (enrolment.state) {
    case 'enrolled':
      return html`It has a kit and sends to <code>${enrolment.hub}</code>.`
    case 'waiting':
      return html`It waits to be accepted by <code>${enrolment.hub_url}</code>.`
    case 'rejected':
      return html`<code>${enrolment.hub_url}</code> has rejected it.`
    case 'restarting':
      return html`<code>${enrolment.hub_url}</code> has accepted it; it starts again now.`
    default:
      return html`It works alone, which it may: nothing here needs a hub.`
  }
}

/** On Home, while something is left. */
export const firstStepsNotice = (left: number): Html | false =>
  left > 0 && html`<p class="notice">This box is being set up. <a href="${FIRST_STEPS_PATH}">Go on with the first steps</a></p>`
