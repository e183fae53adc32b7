/** The page Enrol: a form that makes the kit of an edge, and the certificates that were issued. */
import { csrfField } from '#shared/central/ui/frame.ts'
import { type Here, moment, momentAge } from '#shared/central/ui/moment.ts'
import { countOf } from '#shared/core/number-text.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { DAY } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type EdgeCertificate, isValid } from './authority.ts'

/** From a third of its usual life on, a certificate should be renewed. @source contract §9 */
const RENEW_MS = 132 * DAY

/** Characters of a serial that are shown; the whole has up to 32. */
const SERIAL_SHOWN = 12

type EnrolModel = {
  here: Here
  csrf: string
  /** Or the reason why there is no authority. */
  certificates: EdgeCertificate[] | string
  brokerHosts: string[]
  brokerPort: number
  /** The name under which this page was asked for. */
  reached: string
  edges: EdgeRecord[]
}

export const enrolBody = (model: EnrolModel): Html => html`<h1>Enrol</h1>
${
  typeof model.certificates === 'string'
    ? html`<p class="lead">This hub issues no certificates.</p><section class="card"><p>${model.certificates}.</p></section>`
    : html`<p class="lead">${leadOf(model.certificates, model.here)}</p>${kitForm(model)}${certificateTable(model, model.certificates)}`
}`

function leadOf(certificates: EdgeCertificate[], { now }: Here): string {
  const valid = certificates.filter(one => isValid(one, now))
  const due = valid.filter(({ not_after }) => not_after - now < RENEW_MS).length
  if (valid.length === 0) return 'No edge is enrolled yet. Make a kit, and put it on the box.'
  return `${countOf(valid.length, 'certificate')} ${valid.length === 1 ? 'is' : 'are'} valid${due ? `; ${due} should be renewed` : ''}.`
}

function kitForm({ csrf, brokerHosts, brokerPort, reached }: EnrolModel): Html {
  const preset = brokerHosts.includes(reached) ? reached : brokerHosts[0]!
  return html`<section class="card"><h2>Make a kit</h2>
<p>A kit is the identity of one box: its certificate, its private key and the address of this hub. It is made for this download and not stored here. Put the file, or what is in it, at <code>SERVICE_EDGE_KIT_DIR</code> of the box and restart the box.</p>
<form class="fields" method="post" action="/enrol/kit">${csrfField(csrf)}
<label>Site <input name="site_id" required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" autocomplete="off"></label>
<label>Box (edge id) <input name="edge_id" required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" autocomplete="off"></label>
<label>Name of this hub for the box <input name="broker_host" list="broker-hosts" value="${preset}" maxlength="253"></label>
<datalist id="broker-hosts">${brokerHosts.map(host => html`<option value="${host}">`)}</datalist>
<label>Port <input name="broker_port" inputmode="numeric" pattern="\\d{1,5}" value="${brokerPort}" size="6"></label>
<label class="check"><input type="checkbox" name="replace" value="yes"> Replace: revoke the valid certificate of this box</label>
<details><summary>The key shall stay on the box</summary>
<label>Certificate request (PEM, P-256) <textarea name="csr_pem" rows="6" maxlength="10000" spellcheck="false"></textarea></label></details>
<button>Download the kit</button></form></section>`
}

const certificateTable = (
  model: EnrolModel,
  certificates: EdgeCertificate[],
): Html => html`<section class="card" id="certificates"><h2>Certificates</h2>
${
  certificates.length === 0
    ? html`<p>None yet.</p>`
    : html`<table class="tried"><thead><tr><th scope="col">Box</th><th scope="col">Issued</th><th scope="col">State</th><th scope="col">Serial</th><th scope="col">Change</th></tr></thead>
<tbody>${certificates.map(one => certificateRow(model, one))}</tbody></table>`
}</section>`

const certificateRow = ({ here, csrf, edges }: EnrolModel, one: EdgeCertificate): Html => html`<tr>
<td data-label="Box"><div>${one.edge_id} <span class="muted">of site ${one.site_id}${!isKnown(edges, one) && ', never connected'}</span></div></td>
<td data-label="Issued"><div>${moment(one.issued_at, here)}</div></td>
<td data-label="State"><div>${stateOf(one, here)}</div></td>
<td data-label="Serial"><div><code>${one.serial.slice(0, SERIAL_SHOWN)}</code></div></td>
<td data-label="Change"><div>${isValid(one, here.now) ? revokeForm(csrf, one) : '–'}</div></td></tr>`

const isKnown = (edges: EdgeRecord[], { site_id, edge_id }: EdgeCertificate): boolean =>
  edges.some(edge => edge.site_id === site_id && edge.edge_id === edge_id)

function stateOf({ revoked_at, not_after }: EdgeCertificate, here: Here): Html {
  if (revoked_at !== null) return html`revoked ${momentAge(revoked_at, here)}`
  if (not_after <= here.now) return html`expired ${momentAge(not_after, here)}`
  return html`valid until ${moment(not_after, here)}${not_after - here.now < RENEW_MS && html`, renew it`}`
}

const revokeForm = (csrf: string, { site_id, edge_id }: EdgeCertificate): Html => html`<details><summary>Revoke</summary>
<form method="post" action="/enrol/revoke">${csrfField(csrf)}<input type="hidden" name="site_id" value="${site_id}"><input type="hidden" name="edge_id" value="${edge_id}">
<label class="check"><input type="checkbox" name="confirm" value="yes" required> ${edge_id} can no longer connect</label>
<button>Revoke</button></form></details>`
