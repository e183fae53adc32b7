/** The page Hub of a box: how it comes to a hub, and the fingerprint by which a person there knows it. */
import { csrfField } from '#shared/central/ui/frame.ts'
import { restartingCard } from '#shared/central/pages/system/restarting.view.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { spaced } from '#shared/node/pki/fingerprint.ts'
import type { BoxEnrolmentState } from '../kit/enrolment.ts'
import { words } from '#shared/node/http/language.ts'

export const hubBody = (enrolment: BoxEnrolmentState, csrf: string): Html => html`<h1>Hub</h1>
${bodyOf(enrolment, csrf)}`

function bodyOf(enrolment: BoxEnrolmentState, csrf: string): Html {
  switch (enrolment.state) {
    case 'enrolled':
      return html`<p class="lead">This box has a kit and sends to <code>${enrolment.hub}</code>. <a href="/">Home</a> says whether it is connected and what waits to be sent.</p>`
    case 'unavailable':
      return html`<p class="lead">This box works alone.</p><section class="card"><p>To connect it to a hub, start it with <code>SERVICE_MQTT_ENABLED=1</code>, with a kit of the hub's page Enrol or without one.</p></section>`
    case 'idle':
      return html`<p class="lead">This box works alone.</p><section class="card"><h2>Connect to a hub</h2>
<p>Copy the line from the page Enrol of the hub. It holds the address of the hub and the fingerprint of its authority.</p>
<form class="fields" method="post" action="/hub">${csrfField(csrf)}
<label>Line of the page Enrol <input name="line" required maxlength="300" autocomplete="off" spellcheck="false" placeholder="https://hub.example/#0123…"></label>
<button>Ask for a certificate</button></form></section>`
    case 'restarting':
      return restartingCard(WORDS.restarting, '/hub')
    default:
      return html`<p class="lead">${WORDS[enrolment.state]}</p><section class="card"><h2>Fingerprint of this box</h2>
<p class="figure"><code>${spaced(enrolment.fingerprint)}</code></p>
<p>Hub: <code>${enrolment.hub_url}</code></p>
${enrolment.problem !== undefined && html`<p class="error">${enrolment.problem}</p>`}
<form method="post" action="/hub/cancel">${csrfField(csrf)}<button>Forget this request</button></form></section>`
  }
}

const WORDS = words({
  waiting:
    'This box waits to be accepted. On the page Enrol of the hub, compare the fingerprint and accept the box; it then restarts by itself.',
  rejected: 'The hub has rejected this box.',
  restarting: 'The hub has accepted this box, which starts again now.',
} as const)
