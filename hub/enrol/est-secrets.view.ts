/** The part of the page Enrol about EST: a form for a one-time secret, and those that nobody has used. */
import { csrfField } from '#shared/central/ui/frame.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import type { EstSecret, OpenSecret } from './est-secrets.ts'

type EstModel = { here: Here; csrf: string; secrets: OpenSecret[] }

export const estSection = (model: EstModel): Html => html`<section class="card" id="est"><h2>Devices that enrol by EST</h2>
<p>A device of another make takes its certificate itself (RFC 7030). It needs a secret, which is used once.</p>
<form class="fields" method="post" action="/enrol/est">${csrfField(model.csrf)}
<label>Site of the device <input name="site_id" required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" autocomplete="off"></label>
<label>Device (edge id) <input name="edge_id" required maxlength="64" pattern="[A-Za-z0-9][A-Za-z0-9._\\-]*" autocomplete="off"></label>
<button>Make a secret</button></form>
${model.secrets.length > 0 && secretTable(model)}</section>`

const secretTable = ({ here, csrf, secrets }: EstModel): Html => html`<h3>Not used yet</h3>
<table class="tried"><thead><tr><th scope="col">Device</th><th scope="col">Good until</th><th scope="col">Change</th></tr></thead>
<tbody>${secrets.map(
  ({ site_id, edge_id, expires_at }) => html`<tr>
<td data-label="Device"><div>${edge_id} <span class="muted">of site ${site_id}</span></div></td>
<td data-label="Good until"><div>${moment(expires_at, here)}</div></td>
<td data-label="Change"><div><form method="post" action="/enrol/est/withdraw">${csrfField(csrf)}<input type="hidden" name="site_id" value="${site_id}"><input type="hidden" name="edge_id" value="${edge_id}">
<button>Withdraw</button></form></div></td></tr>`,
)}</tbody></table>`

/** Shown once, after a secret was made. @param at the name under which this hub was asked, and the port of EST */
export const secretMade = (
  { username, password, expires_at }: EstSecret,
  { host, port, here }: { host: string; port: number | undefined; here: Here },
): Html => html`<h1>Enrol</h1>
<section class="card"><h2>Secret of ${username}</h2>
<p>It is shown only now, is used once, and is good until ${moment(expires_at, here)}. An earlier one of this device is void.</p>
<dl class="values">${port !== undefined && html`<div><dt>Address</dt><dd><code>https://${host}:${port}/.well-known/est</code></dd></div>`}
<div><dt>User name</dt><dd><code>${username}</code></dd></div>
<div><dt>Password</dt><dd><code data-secret>${password}</code></dd></div></dl>
<p><a href="/enrol">Back to Enrol</a></p></section>`
