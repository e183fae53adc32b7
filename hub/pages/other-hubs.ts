/** The other hubs of a cluster: the list of the API, and the part of Fleet. */
import { type Here, momentAge } from '#shared/central/ui/moment.ts'
import { stateIcon } from '#shared/central/ui/icons.ts'
import { formatInstant } from '#shared/core/time.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { say, sayCount } from '#shared/node/http/language.ts'
import { type Route, route } from '#shared/node/http/route.ts'
import { type OtherHub, HUB_SILENT_MS } from '../cluster/hub-list.ts'

export const otherHubsRoute = (others: () => OtherHub[]): Route =>
  route({
    method: 'GET',
    path: '/api/hubs',
    auth: 'viewer',
    summary: 'The other hubs of the cluster, each of one site, with their edges and open faults as they last told them',
    handle: () => ({
      ok: true,
      hubs: others().map(({ site_id = null, address = null, told_at, ...hub }) => ({
        ...{ site_id, address, ...hub },
        told_at: formatInstant(told_at),
      })),
    }),
  })

/** @returns nothing where this hub is the only one */
export const otherHubsPart = (others: OtherHub[], here: Here): Html | undefined =>
  others.length === 0
    ? undefined
    : html`<section><h2>Other hubs</h2>
<table class="fleet"><thead><tr><th scope="col">Site</th><th scope="col">Status</th><th scope="col">Edges</th><th scope="col">Open faults</th><th scope="col">Process</th></tr></thead>
<tbody>${others.map(hub => hubRow(hub, here))}</tbody></table></section>`

function hubRow(hub: OtherHub, here: Here): Html {
  const { site_id = say`All sites`, address, edges, not_operational, faults, holder, told_at } = hub
  const isSilent = here.now - told_at > HUB_SILENT_MS
  const status = isSilent ? stateIcon('down', say`silent`) : stateIcon('ok', say`active`)
  return html`<tr>
<td data-label="Site" class="what"><strong>${address === undefined ? site_id : html`<a href="${address}">${site_id}</a>`}</strong></td>
<td data-label="Status"><div>${status} <span class="muted">${momentAge(told_at, here)}</span></div></td>
<td data-label="Edges"><div>${not_operational === 0 ? sayCount(edges) : say`${sayCount(edges)}, of which ${sayCount(not_operational)} not operational`}</div></td>
<td data-label="Open faults"><div>${sayCount(faults)}</div></td>
<td data-label="Process"><div>${holder}</div></td>
</tr>`
}
