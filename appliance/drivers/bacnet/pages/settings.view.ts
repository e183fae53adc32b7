/** The page of where the box sends and receives BACnet/IP. */
import { type Html, html } from '#shared/node/http/html.ts'
import type { Problem } from '#shared/core/problem.ts'
import { restartingCard } from '#shared/central/pages/system/restarting.view.ts'
import { SETTING_SOURCES } from '#shared/central/pages/system/settings.view.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { say, sayMade } from '#shared/node/http/language.ts'
import type { BacnetSettings, BacnetWish } from './bacnet-settings.ts'

type SettingsModel = ReturnType<BacnetSettings['current']> & { form: BacnetWish; refusal: Problem | undefined; csrf: string }

export const bacnetSettingsBody = (model: SettingsModel): Html => html`<p class="crumbs"><a href="/setup">Set-up</a></p>
<h1>BACnet network</h1>
${
  model.is_restarting
    ? restartingCard(say`The program starts again with the new settings`, '/bacnet/network')
    : html`<p class="lead">From which network the box asks BACnet devices, and the broadcast manager (BBMD) by which it reaches another one. Saving starts the program again: polling stops for about half a minute, and nothing that is stored is lost.</p>
${model.refusal !== undefined && html`<p class="notice" role="alert">${sayMade(model.refusal.message)}</p>`}
${formPart(model)}`
}
${sources(model)}`

function formPart({ form, machine, csrf }: SettingsModel): Html {
  const chosen = form.addresses.join(',')
  const known = new Set(['0.0.0.0', ...machine.map(({ address }) => address)])
  return html`<form class="card fields" method="post" action="/bacnet/network">${csrfField(csrf)}
<label>Network interface <select name="addresses"><option value="0.0.0.0">every network of this machine</option>${machine.map(
    ({ name, address, netmask }) =>
      html`<option value="${address}"${address === chosen && html` selected`}>${name}: ${address}, mask ${netmask}</option>`,
  )}${!known.has(chosen) && html`<option value="${chosen}" selected>${chosen}</option>`}</select></label>
<label>UDP port <input name="port" type="number" min="0" max="65535" value="${String(form.port)}" required></label>
<label>Broadcast manager (BBMD), empty for none <input name="bbmd" value="${form.bbmd}" placeholder="10.20.0.1:47808" maxlength="200" autocomplete="off" spellcheck="false"></label>
<label>Registration with it lasts, seconds <input name="bbmd_ttl_secs" type="number" min="30" max="65535" value="${String(form.bbmd_ttl_secs)}" required></label>
<button class="primary">Save and start again</button></form>`
}

const sources = ({ settings }: SettingsModel): Html => html`<section class="card"><h2>In effect</h2>
<table class="tried"><thead><tr><th scope="col">Setting</th><th scope="col">Value</th><th scope="col">From</th></tr></thead>
<tbody>${settings.map(
  ({ name, value, source, is_decided_elsewhere }) => html`<tr>
<td data-label="Setting"><div><code>${name}</code></div></td>
<td data-label="Value"><div>${value === '' ? html`<span class="muted">none</span>` : html`<code>${value}</code>`}</div></td>
<td data-label="From"><div>${is_decided_elsewhere ? html`${SETTING_SOURCES[source]}: it is changed there` : source === 'default' ? SETTING_SOURCES.default : SETTING_SOURCES['settings file']}</div></td></tr>`,
)}</tbody></table></section>`
