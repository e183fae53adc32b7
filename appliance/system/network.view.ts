/** The page Network: addresses and time servers of the box, tried before they stay. */
import { formatMoment, type Here, momentAge } from '#shared/central/ui/moment.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import type { Problem } from '#shared/core/problem.ts'
import type { NetworkTrial } from '#shared/core/system/network-trial.ts'
import { STICK_FILES } from '#shared/core/system/stick-files.ts'
import { MINUTE } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { sayMade, sayPlaced, words } from '#shared/node/http/language.ts'
import { FIRST_STEPS_PATH } from '../pages/first-steps.view.ts'

/** How long the box waits for somebody who keeps them; `image/root/usr/lib/plenum/network` counts. */
const PATIENCE_MS = 10 * MINUTE

type Mode = 'dhcp' | 'fixed'
/** As people type it: lists are separated by commas or spaces. */
export type NetworkForm = {
  uplink_mode: Mode
  uplink_address: string
  uplink_gateway: string
  uplink_name_servers: string
  /** Undefined where the controllers have no network of their own. */
  ot_mode?: Mode
  ot_address?: string
  time_servers: string
}

type NetworkModel = {
  /** Undefined where this box cannot set its network, or does not know it yet. */
  form: NetworkForm | undefined
  interfaces: { uplink: string | undefined; ot: string | undefined }
  isAsked: boolean
  trial: NetworkTrial | undefined
  refusal: Problem | undefined
  here: Here
  csrf: string
}

export const networkBody = (model: NetworkModel): Html => html`<p class="crumbs"><a href="${FIRST_STEPS_PATH}">First steps</a></p>
<h1>Network</h1>
${model.form === undefined ? unknownPart() : html`${trialPart(model)}${formPart(model.form, model)}`}`

const unknownPart = (): Html =>
  html`<section class="card"><p>This appliance does not run on Plenum's own system image, or has only just started: its network is set like that of any other machine.</p></section>`

const OUTCOMES: Record<Exclude<NetworkTrial['state'], 'trying'>, string> = words({
  kept: 'The settings that were tried last are kept.',
  set_back: 'The settings that were tried last are set back',
  refused: 'The settings that were asked for last were refused',
})

function trialPart({ isAsked, trial, here, csrf }: NetworkModel): Html | false {
  if (isAsked)
    return html`<section class="card" role="status"><h2>The box starts with the new settings</h2><p>This takes about a minute. Open the page at the new address, sign in, and keep them here.</p></section>`
  if (trial === undefined) return false
  const at = Date.parse(trial.at)
  if (trial.state === 'trying')
    return html`<section class="card" id="trial"><h2>These settings are tried</h2>
<p>You have reached the box with them. Unless somebody keeps them, the box goes back to the ones before at ${formatMoment(at + PATIENCE_MS, here)}.</p>
<form method="post" action="/network/keep">${csrfField(csrf)}<button class="primary">Keep these settings</button></form></section>`
  return html`<p class="notice">${OUTCOMES[trial.state]}${trial.reason !== '' && html`: ${reasonWords(trial.reason)}`} (${momentAge(at, here)})</p>`
}

function formPart(form: NetworkForm, { interfaces, trial, isAsked, refusal, csrf }: NetworkModel): Html {
  const isLocked = isAsked || trial?.state === 'trying'
  return html`${!isLocked && html`<p class="lead">The box starts once with what is saved here, and polling stops for about a minute. Nothing can go wrong for good: when nobody keeps the new settings within ten minutes, the box sets the ones before back by itself.</p>`}
${refusal !== undefined && html`<p class="notice" role="alert" id="refusal">${refusalWords(refusal)}</p>`}
<form method="post" action="/network"><fieldset class="plain"${isLocked && html` disabled`}>${csrfField(csrf)}
<section class="card fields"><h2>Network of the page and the hub</h2><p class="muted">Network interface <code>${interfaces.uplink ?? ''}</code>.</p>
${modeField('uplink', form.uplink_mode)}
<label>Address with prefix <input name="uplink_address" value="${form.uplink_address}" placeholder="192.168.10.5/24" autocomplete="off" spellcheck="false" inputmode="decimal"></label>
<label>Gateway <input name="uplink_gateway" value="${form.uplink_gateway}" placeholder="192.168.10.1" autocomplete="off" spellcheck="false" inputmode="decimal"></label>
<label>Name servers <input name="uplink_name_servers" value="${form.uplink_name_servers}" autocomplete="off" spellcheck="false"></label></section>
${form.ot_mode && otPart(form.ot_mode, form.ot_address ?? '', interfaces.ot)}
<section class="card fields"><h2>Clock</h2>
<label>Time servers <input name="time_servers" value="${form.time_servers}" autocomplete="off" spellcheck="false" aria-describedby="time-help"></label>
<p class="muted" id="time-help">Names or addresses, separated by commas. Without one the network may name one, or the hub gives the time.</p></section>
<button class="primary">Save and start the box with them</button></fieldset></form>
<p class="muted">What the firewall lets out, TCP ports, and which network interface is which come with the file <code>${STICK_FILES.system}</code> on a USB stick.</p>`
}

/** Fields by the places in which the box complains of them. */
const FIELDS: Record<string, string> = words({
  '/uplink/address': 'Network of the page and the hub, address',
  '/uplink/gateway': 'Network of the page and the hub, gateway',
  '/uplink/name_servers': 'Network of the page and the hub, name servers',
  '/ot/address': 'Network of the controllers, address',
  '/time_servers': 'Time servers',
})

/** What the system says when it sets them back. */
const REASONS: Record<string, string> = words({
  'nobody kept them within 10 minutes': 'nobody kept them within 10 minutes',
  'the network was set at the box itself': 'the network was set at the box itself',
})

const reasonWords = (reason: string): string => REASONS[reason] ?? complaintWords(reason)
const refusalWords = ({ code, message }: Problem): string => (code === 'invalid' ? complaintWords(message) : sayMade(message))

function complaintWords(complaints: string): string {
  const lines = complaints.split('; ').map(line => {
    const [place = '', ...text] = line.split(': ')
    // The place of one of several name servers ends with its number.
    const field = FIELDS[place.replace(/\/\d+$/, '')]
    return field === undefined ? sayPlaced(line) : `${field}: ${sayMade(text.join(': '))}`
  })
  return lines.join('; ')
}

const otPart = (
  mode: Mode,
  address: string,
  name: string | undefined,
): Html => html`<section class="card fields"><h2>Network of the controllers</h2><p class="muted">Network interface <code>${name ?? ''}</code>. Nothing is forwarded between the two networks.</p>
${modeField('ot', mode)}
<label>Address with prefix <input name="ot_address" value="${address}" placeholder="10.20.0.5/16" autocomplete="off" spellcheck="false" inputmode="decimal"></label></section>`

const modeField = (name: 'uplink' | 'ot', mode: Mode): Html =>
  html`<label class="check"><input type="radio" name="${name}_mode" value="dhcp"${mode === 'dhcp' && html` checked`}> The network gives the address (DHCP)</label>
<label class="check"><input type="radio" name="${name}_mode" value="fixed"${mode === 'fixed' && html` checked`}> A fixed address</label>`
