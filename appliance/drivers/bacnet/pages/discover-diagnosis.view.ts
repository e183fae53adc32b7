/** The diagnosis of a discovery: shown when it found nothing, otherwise folded. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { Discovery } from '../core/discovery/discovery.ts'
import type { BoundAddress, Diagnosis } from '../core/discovery/diagnosis.ts'
import { say } from '#shared/node/http/language.ts'

export function whyBody(why: Diagnosis, { devices }: Discovery): Html {
  const title = devices.length ? say`How it was called` : say`Why is it empty?`
  const facts = html`${factList(why)}${why.speaking.length > 0 && speakingTable(why.speaking)}`
  const steps =
    why.next_steps.length > 0 && html`<h3>What to try next</h3><ol>${why.next_steps.map(step => html`<li>${step}</li>`)}</ol>`
  return html`<section class="card why-empty"><h2>${title}</h2>${steps}${
    devices.length ? html`<details><summary>Networks and counts</summary>${facts}</details>` : facts
  }</section>`
}

const factList = ({ bind, holder, error, machine, manager, calls_sent, i_ams }: Diagnosis): Html => html`<dl class="values">
<div><dt>Bound to</dt><dd>${bind.address}, UDP port ${bind.port}</dd></div>
<div><dt>Who holds the port</dt><dd>${holder ?? say`cannot be seen from here`}</dd></div>
${error !== null && html`<div><dt>Error</dt><dd>${error}</dd></div>`}
${machine.map(({ name, address, netmask }) => html`<div><dt>Interface ${name}</dt><dd>${address}, mask ${netmask}</dd></div>`)}
${manager && html`<div><dt>Broadcast manager (BBMD)</dt><dd>${manager.host}:${manager.port}, ${manager.registered ? say`registered` : (manager.error ?? say`not registered`)}</dd></div>`}
<div><dt>Calls (Who-Is) sent</dt><dd>${calls_sent}</dd></div>
<div><dt>Answers (I-Am)</dt><dd>${i_ams.heard} heard, ${i_ams.taken} taken, ${i_ams.repeated} repeated, ${i_ams.ignored} not taken</dd></div>
</dl>`

const speakingTable = (speaking: BoundAddress[]): Html =>
  html`<div class="wide" role="region" aria-label="Datagrams by address" tabindex="0"><table class="figures-table"><thead><tr><th scope="col">Address</th><th scope="col">Broadcasts to</th><th scope="col">Sent</th><th scope="col">Received</th><th scope="col">Malformed</th><th scope="col">Nobody's</th></tr></thead><tbody>${speaking.map(
    ({ address, port, broadcast_addresses, deafness, sent, received, malformed, unmatched }) =>
      html`<tr><td>${address}:${port}</td><td>${broadcast_addresses.join(', ') || say`none`}${deafness !== null && html`<br><strong>not heard:</strong> ${deafness}`}</td><td>${sent}</td><td>${received}</td><td>${malformed}</td><td>${unmatched}</td></tr>`,
  )}</tbody></table></div>`
