/** What to look at where an edge is not operational, by what the hub knows of it: a cause that its last figures show comes first. */
import { EDGE_LIMITS } from '#shared/core/alerts/edge-limits.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type Here, moment } from '#shared/central/ui/moment.ts'
import type { User } from '#shared/central/ui/frame.ts'
import { clockWords, OFFSET_MAX_MS } from './edge-words.ts'
import type { FleetRow } from './fleet.view.ts'

type CheckedEdge = Pick<FleetRow, 'edge' | 'health' | 'reported'> & { here: Here; user: User | undefined }

export function edgeChecks(model: CheckedEdge): Html | false {
  const { edge, reported, health } = model
  if (health.status !== 'disconnected' && health.status !== 'reduced') return false
  // Another box under the same id is the cause by itself, and the sentence above says so.
  if (reported.shared && edge.online) return false
  const checks = edge.online ? readsNothing(model) : closedSession(model)
  return html`<section class="card"><h2>What to look at</h2><ol>${checks.map(check => check && html`<li>${check}</li>`)}</ol></section>`
}

function closedSession({ edge, reported, user, here }: CheckedEdge): (Html | false)[] {
  const { cert_not_after, clock_offset_ms, disk_used_percent } = reported
  return [
    cert_not_after !== null &&
      cert_not_after <= here.now &&
      html`<strong>Its certificate ended</strong> ${moment(cert_not_after, here)}, so the broker refuses it: it needs a new kit.`,
    clock_offset_ms !== null &&
      Math.abs(clock_offset_ms) > OFFSET_MAX_MS &&
      html`Its clock was ${clockWords(reported)}: one that is far off takes a good certificate for one that is not valid.`,
    disk_used_percent !== null &&
      disk_used_percent >= EDGE_LIMITS.disk.urgent &&
      html`<strong>Its disk was ${disk_used_percent} % full</strong> when it last said so.`,
    html`Power and network at the box. Its way here is outgoing TCP, port 8883 unless its kit names another. Where many edges are silent, look at the network of this hub and at its broker first: <a href="/">Fleet</a>.`,
    html`Home of the box itself: the tile Hub says why it is not connected and how many messages wait.`,
    user?.mayOperate === true &&
      html`Whether it was revoked here: <a href="/enrol?${new URLSearchParams({ q: edge.edge_id })}#certificates">its certificates</a>.`,
    html`What it reads meanwhile is kept on the box and comes when it is connected again.`,
  ]
}

function readsNothing({ reported: { poll_failures } }: CheckedEdge): (Html | false)[] {
  const { running = true, failing = 0, devices_total = 0, device_ids = [] } = poll_failures ?? {}
  return [
    !running && html`<strong>Its polling has stopped.</strong>`,
    failing > 0 && html`<strong>It cannot read ${failing} of ${devices_total} devices</strong>: ${device_ids.join(', ')}.`,
    html`The page Devices of the box: it shows the error of each device. An admin can read the log of the box from here.`,
    html`The backlog above: while many messages wait, those that arrive now are old.`,
  ]
}
