/** The page Enrol: a form that makes the kit of an edge, and the certificates that were issued. */
import { csrfField } from '#shared/central/ui/frame.ts'
import { type Here, moment, momentAge } from '#shared/central/ui/moment.ts'
import type { MosquittoList } from '#shared/node/pki/mosquitto-list.ts'
import { isRenewalDue } from '#shared/core/auth/certificate-life.ts'
import { type EdgeAddress, edgeName } from '#shared/core/model/model.ts'
import { hasWords, searchWords } from '#shared/core/search/search-index.ts'
import { listSearch, pager, partOf, SEARCHED_FROM } from '#shared/central/ui/pager.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type PendingModel, pendingSection } from './pending.view.ts'
import { type EdgeCertificate, isValid } from './authority.ts'
import type { OpenSecret } from './est-secrets.ts'
import { estSection } from './est-secrets.view.ts'
import type { ServiceCertificate } from './service-certificates.ts'
import { serviceCertificatesSection } from './service-certificates.view.ts'
import { say, sayCountOf } from '#shared/node/http/language.ts'

/** Characters of a serial that are shown; the whole has up to 32. */
const SERIAL_SHOWN = 12
/** Names that mosquitto's list lacks and that are shown. */
const NAMES_SHOWN = 10
/** Certificates on one page: each has forms, a kilobyte and a half. */
const CERTIFICATES_SHOWN = 50

type EnrolModel = {
  here: Here
  csrf: string
  /** Or the reason why there is no authority. */
  certificates: EdgeCertificate[] | string
  brokerHosts: string[]
  /** Undefined where the broker is not mosquitto. */
  mosquitto: MosquittoList | undefined
  brokerPort: number
  /** The name under which this page was asked for. */
  reached: string
  edges: EdgeRecord[]
  /** Words of the listed certificates, and which part of them is shown. */
  q: string
  page: number | undefined
  /** The box in whose place another comes. */
  replaced: { site_id: string; edge_id: string } | undefined
  /** Those of the hub itself, at the last look. */
  own: readonly ServiceCertificate[]
  /** Undefined where boxes cannot ask. */
  pending: Pick<PendingModel, 'line' | 'waiting' | 'tenant_id'> | undefined
  /** One-time secrets of EST that nobody has used; undefined where the hub does not speak it. */
  secrets: OpenSecret[] | undefined
}

export const enrolBody = (model: EnrolModel): Html => html`<h1>Enrol</h1>
${
  typeof model.certificates === 'string'
    ? html`<p class="lead">This hub issues no certificates.</p><section class="card"><p>${model.certificates}.</p></section>`
    : html`<p class="lead">${leadOf(model.certificates, model.here)}</p>${model.pending && pendingSection({ ...model, ...model.pending })}${model.mosquitto && mosquittoPart(model.mosquitto)}${kitForm(model)}${model.secrets && estSection({ ...model, secrets: model.secrets })}${certificateTable(model, model.certificates)}`
}${model.own.length > 0 && serviceCertificatesSection(model.own, model.here)}`

/** mosquitto denies without a word what its list does not name. */
const mosquittoPart = ({ missing, run }: MosquittoList): Html =>
  missing.length === 0
    ? html`<p>The list of mosquitto is written anew with each certificate. It reads it, and the list of revoked certificates, after <code>${run}</code>.</p>`
    : html`<p class="error">The list of mosquitto lacks some names, so nothing of these boxes arrives: ${missing.slice(0, NAMES_SHOWN).join(', ')}. Run <code>${run}</code>.</p>`

function leadOf(certificates: EdgeCertificate[], { now }: Here): string {
  const valid = certificates.filter(one => isValid(one, now))
  const due = [...newestOf(valid).values()].filter(one => isDue(one, now)).length
  if (valid.length === 0) return say`No edge is enrolled yet. Accept a box that asks, or make a kit and put it on the box.`
  const count = sayCountOf(valid.length, 'certificate')
  const more = due ? say`; ${due} should be renewed` : ''
  return valid.length === 1 ? say`${count} is valid${more}.` : say`${count} are valid${more}.`
}

/** The newest certificate of each box. @param certificates the newest first */
const newestOf = (certificates: EdgeCertificate[]): Map<string, EdgeCertificate> =>
  new Map(certificates.toReversed().map(one => [boxOf(one), one]))

/** The list is of one tenant. */
const boxOf = ({ site_id, edge_id }: EdgeAddress): string => edgeName({ site_id, edge_id })

/** @param replaced whose name the new box takes over */
const replacing = ({ site_id, edge_id }: { site_id: string; edge_id: string }): Html =>
  html`<p>The new box goes on as <strong>${edge_id}</strong> of site <strong>${site_id}</strong>, with the history, the faults and the roles that the hub has. What the old box had not sent yet, and its own history of priority arrays, are lost with it. Where there is a backup of the old box, restore it on the page Backups of the new one. The download revokes the certificate of the old box.</p>`

function kitForm({ csrf, brokerHosts, brokerPort, reached, replaced }: EnrolModel): Html {
  const preset = brokerHosts.includes(reached) ? reached : brokerHosts[0]!
  return html`<section class="card" id="kit"><h2>${replaced ? say`Replace ${replaced.edge_id}` : say`Make a kit`}</h2>
${replaced && replacing(replaced)}<p>A kit is the identity of one box: its certificate, its private key and the address of this hub. It is made for this download and not stored here. A box with Plenum's own system image takes it as <code>kit.zip</code> from a USB stick with the label <code>PLENUM</code>. Elsewhere put the file, or what is in it, at <code>SERVICE_EDGE_KIT_DIR</code> and restart the box.</p>
<form class="fields" method="post" action="/enrol/kit">${csrfField(csrf)}
<label>Site <input name="site_id" value="${replaced?.site_id ?? ''}" required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" autocomplete="off"></label>
<label>Box (edge id) <input name="edge_id" value="${replaced?.edge_id ?? ''}" required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" autocomplete="off"></label>
<label>Name of this hub for the box <input name="broker_host" list="broker-hosts" value="${preset}" maxlength="253"></label>
<datalist id="broker-hosts">${brokerHosts.map(host => html`<option value="${host}">`)}</datalist>
<label>Port <input name="broker_port" inputmode="numeric" pattern="\\d{1,5}" value="${brokerPort}" size="6"></label>
<label class="check"><input type="checkbox" name="replace" value="yes"${replaced && html` checked`}> Replace: revoke the valid certificate of this box</label>
<details><summary>The key shall stay on the box</summary>
<label>Certificate request (PEM) <textarea name="csr_pem" rows="6" maxlength="10000" spellcheck="false"></textarea></label></details>
<button>Download the kit</button></form></section>`
}

function certificateTable(model: EnrolModel, certificates: EdgeCertificate[]): Html {
  const { q, page, edges } = model
  const found = certificates.filter(one => hasWords(searchWords(one.edge_id, one.site_id, one.serial), q))
  const part = partOf(found, page, CERTIFICATES_SHOWN)
  const lists = {
    newest: newestOf(certificates),
    edges: new Map(edges.map(edge => [edgeName(edge), edge])),
  }
  const hrefOf = (one: number) => `/enrol?${new URLSearchParams({ ...(q !== '' && { q }), page: String(one) })}#certificates`
  return html`<section class="card" id="certificates"><h2>Certificates</h2>
${(certificates.length > SEARCHED_FROM || q !== '') && listSearch({ path: '/enrol#certificates', state: {}, q, label: say`Box, site or serial contains` })}
${
  found.length === 0
    ? html`<p>${q === '' ? say`None yet.` : say`No certificate contains “${q}”.`}</p>`
    : html`<table class="tried"><thead><tr><th scope="col">Box</th><th scope="col">Issued</th><th scope="col">State</th><th scope="col">Serial</th><th scope="col">Change</th></tr></thead>
<tbody>${part.rows.map(one => certificateRow(model, one, lists))}</tbody></table>`
}${pager(part, hrefOf)}</section>`
}

/** By box: its newest certificate, and what the hub knows of it. */
type CertificateLists = { newest: Map<string, EdgeCertificate>; edges: Map<string, EdgeRecord> }

function certificateRow({ here, csrf }: EnrolModel, one: EdgeCertificate, lists: CertificateLists): Html {
  const box = boxOf(one)
  const edge = lists.edges.get(box)
  const isNewest = lists.newest.get(box) === one
  return html`<tr>
<td data-label="Box"><div>${one.edge_id} <span class="muted">of site ${one.site_id}${!edge && say`, never connected`}</span></div></td>
<td data-label="Issued"><div>${moment(one.issued_at, here)}</div></td>
<td data-label="State"><div>${stateOf(one, isNewest && isDue(one, here.now), here)}</div></td>
<td data-label="Serial"><div><code>${one.serial.slice(0, SERIAL_SHOWN)}</code></div></td>
<td data-label="Change"><div>${isNewest && reissueForms(csrf, one, edge?.online === true)}${isValid(one, here.now) && revokeForm(csrf, one)}</div></td></tr>`
}

/** The newest certificate of a box can be renewed while the box is connected, and a box that was lost gets a new kit. */
const reissueForms = (csrf: string, one: EdgeCertificate, isConnected: boolean): Html => html`<details><summary>Reissue</summary>
${
  isConnected &&
  html`<form method="post" action="/enrol/renew">${csrfField(csrf)}${placeFields(one)}
<p>The box is connected: it makes a new key and uses the new certificate at once.</p>
<button>Renew over its connection</button></form>`
}<form method="post" action="/enrol/kit">${csrfField(csrf)}${placeFields(one)}<input type="hidden" name="replace" value="yes">
<p>A new kit for the box; its valid certificates are revoked.</p>
<button>Download a new kit</button></form></details>`

const placeFields = ({ site_id, edge_id }: EdgeCertificate): Html =>
  html`<input type="hidden" name="site_id" value="${site_id}"><input type="hidden" name="edge_id" value="${edge_id}">`

/** Whether a certificate should be renewed, which the newest of its box is not yet. */
const isDue = ({ issued_at, not_after }: EdgeCertificate, now: number): boolean =>
  isRenewalDue({ from: issued_at, to: not_after }, now)

function stateOf({ revoked_at, not_after }: EdgeCertificate, isNotRenewed: boolean, here: Here): Html {
  if (revoked_at !== null) return html`revoked ${momentAge(revoked_at, here)}`
  if (not_after <= here.now) return html`expired ${momentAge(not_after, here)}`
  return html`valid until ${moment(not_after, here)}${isNotRenewed && html`, renewal is due`}`
}

const revokeForm = (csrf: string, one: EdgeCertificate): Html => html`<details><summary>Revoke</summary>
<form method="post" action="/enrol/revoke">${csrfField(csrf)}${placeFields(one)}
<label class="check"><input type="checkbox" name="confirm" value="yes" required> ${one.edge_id} can no longer connect</label>
<button>Revoke</button></form></details>`
