/** The page of settings: each variable of the process, its value, and where that comes from. */
import type { Effective } from '#shared/core/env.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { sayCountOf, words } from '#shared/node/http/language.ts'

type SettingsModel = { settings: Effective[]; shown: 'set' | 'all' }

export const SETTING_SOURCES: Record<Effective['source'], string> = words({
  'command line': 'command line',
  environment: 'environment',
  file: 'a file named in the environment',
  'auth.env.local': 'auth.env.local in the workspace',
  'settings file': 'settings file',
  default: 'default',
})

export function settingsBody({ settings, shown }: SettingsModel): Html {
  const given = settings.filter(({ source }) => source !== 'default')
  const rows = shown === 'all' ? settings : given
  return html`<p class="crumbs"><a href="/system">System</a></p>
<h1>Settings</h1>
<p class="lead">As read when the process started. They are changed where they come from, and count after a restart.</p>
<nav class="tabs" aria-label="Which settings"><ul>
<li><a href="/settings"${shown === 'set' && html` aria-current="page"`}>Set <span class="count">${given.length}</span></a></li>
<li><a href="/settings?shown=all"${shown === 'all' && html` aria-current="page"`}>All <span class="count">${settings.length}</span></a></li>
</ul></nav>
${
  rows.length === 0
    ? html`<section class="card quiet-card"><h2>Nothing is set.</h2><p>${sayCountOf(settings.length, 'setting')} have their default.</p></section>`
    : settingTable(rows)
}`
}

const settingTable = (
  settings: Effective[],
): Html => html`<table class="tried"><thead><tr><th scope="col">Setting</th><th scope="col">Value</th><th scope="col">From</th></tr></thead>
<tbody>${settings.map(
  ({ name, value, source, doc }) => html`<tr>
<td data-label="Setting"><div><code>${name}</code> <span class="muted">${doc}</span></div></td>
<td data-label="Value"><div>${value === '' ? html`<span class="muted">none</span>` : html`<code>${value}</code>`}</div></td>
<td data-label="From"><div>${SETTING_SOURCES[source]}</div></td></tr>`,
)}</tbody></table>`
