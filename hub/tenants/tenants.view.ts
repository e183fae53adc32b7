/** The page of tenants: what each uses of its budget, who may enter it, and the forms. */
import type { TenantBudget, TenantUse } from '#shared/core/tenant-budget.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { say, sayCount, sayCountOf } from '#shared/node/http/language.ts'

type ShownTenant = { tenant_id: string; name: string; use: TenantUse | null; limits: TenantBudget; members: string[] }
type TenantsPage = { tenants: ShownTenant[]; csrf: string }

export const tenantsBody = ({ tenants, csrf }: TenantsPage): Html => html`<h1>Tenants</h1>
<p class="lead">${tenants.length > 0 ? say`${sayCountOf(tenants.length, 'tenant')}, each with a workspace of its own.` : say`No tenant yet. Everything is in the workspace of the hub.`}</p>
${
  tenants.length > 0 &&
  html`<section class="card"><table class="tried"><thead><tr><th scope="col">Tenant</th><th scope="col">Storage</th><th scope="col">Series</th><th scope="col">Requests this minute</th><th scope="col">People</th><th scope="col">Change</th></tr></thead>
<tbody>${tenants.map(tenant => tenantRow(tenant, csrf))}</tbody></table></section>`
}
<section class="card"><h2>Add a tenant</h2>
<form class="fields" method="post" action="/tenants">${csrfField(csrf)}
<label>Tenant id <input name="tenant_id" required maxlength="32" pattern="[a-z0-9][a-z0-9\\-]*" autocapitalize="none" autocomplete="off"></label>
<label>Name <input name="name" required maxlength="100" autocomplete="off"></label>
<button>Add tenant</button></form></section>`

function tenantRow({ tenant_id, name, use, limits, members }: ShownTenant, csrf: string): Html {
  const used = (n: number | undefined, limit: number | null, unit = '') =>
    html`${n === undefined ? html`<strong>not open</strong>` : `${sayCount(n)}${unit}`} <span class="muted">${limit === null ? say`no limit` : say`of ${sayCount(limit)}`}</span>`
  return html`<tr>
<td data-label="Tenant"><div><strong>${name}</strong> <code>${tenant_id}</code></div></td>
<td data-label="Storage"><div>${used(use?.bytes, limits.max_bytes, say`\u00a0bytes`)}</div></td>
<td data-label="Series"><div>${used(use?.series, limits.max_series)}</div></td>
<td data-label="Requests this minute"><div>${used(use?.requests_per_minute, limits.max_requests_per_minute)}</div></td>
<td data-label="People"><div>${members.length > 0 ? members.join(', ') : say`nobody yet`}</div></td>
<td data-label="Change"><div>${changeForms({ tenant_id, limits, members }, csrf)}</div></td></tr>`
}

function changeForms({ tenant_id, limits, members }: Pick<ShownTenant, 'tenant_id' | 'limits' | 'members'>, csrf: string): Html {
  const start = html`${csrfField(csrf)}<input type="hidden" name="tenant_id" value="${tenant_id}">`
  const limit = (name: keyof TenantBudget, text: string) =>
    html`<label>${text}<input name="${name}" inputmode="numeric" pattern="[0-9]{0,15}" value="${limits[name] ?? ''}"></label>`
  return html`<details><summary>Budget<span class="hidden"> of ${tenant_id}</span></summary>
<p>Blank is no limit. Limits count from the next message and request on.</p>
<form class="fields" method="post" action="/tenants/budget">${start}${limit('max_bytes', say`Bytes`)}${limit('max_series', say`Series`)}${limit('max_requests_per_minute', say`Requests a minute`)}<button>Set budget</button></form></details>
<details><summary>People<span class="hidden"> of ${tenant_id}</span></summary>
<form class="fields" method="post" action="/tenants/members">${start}<label>User name<input name="username" required maxlength="128" autocapitalize="none" autocomplete="off"></label><button>Let in</button></form>
${
  members.length > 0 &&
  html`<form class="fields" method="post" action="/tenants/members/remove">${start}<label>Take out, and sign out everywhere<select name="username">${members.map(one => html`<option>${one}</option>`)}</select></label><button>Take out</button></form>`
}</details>`
}
