/** Deletes an edge that is gone: the route for programs, the button of Fleet, and the words for what follows. */
import { FRESH_MS } from '#shared/core/telemetry/fresh-data.ts'
import { Type } from '@sinclair/typebox'
import { SiteQuery } from '#shared/central/api/connectors.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { csrfField } from '#shared/central/ui/frame.ts'
import { ID } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { type EdgeChoice, findEdge } from '#shared/core/telemetry/find-edge.ts'
import { formatDuration } from '#shared/core/time.ts'
import type { EdgeRegistry } from '#shared/flow/ingest/edge-registry.ts'
import { type Html, html } from '#shared/node/http/html.ts'
import { type AuditNote, type Route, route, strict } from '#shared/node/http/route.ts'
import { EDGE_DELETED } from './edge-schemas.ts'

type Context = Pick<CentralContext, 'edges' | 'clock'>

export const deleteEdgeRoutes = (context: Context, registry: Pick<EdgeRegistry, 'deleteEdge'>): Route[] => [
  route({
    method: 'DELETE',
    path: '/api/edges/:edge_id',
    auth: 'admin',
    summary: 'Deletes an edge that is gone; its building stays, and the hub runs the rules of it',
    params: strict({ edge_id: ID }),
    query: SiteQuery,
    body: strict({ confirm: Type.Optional(Type.Boolean()) }),
    reply: EDGE_DELETED,
    action: 'delete_edge',
    problems: ['confirm_required', 'unknown_edge', 'ambiguous_edge', 'conflict'],
    handle: ({ body, params, query, audit }) => {
      if (body.confirm !== true) throw new Problem('confirm_required', 'The hub forgets this edge; send confirm: true')
      return { ok: true, ...deleteEdge(context, registry, { ...params, ...query }, audit) }
    },
  }),
  route({
    method: 'POST',
    path: '/fleet/edges/delete',
    auth: 'admin',
    summary: 'The button that deletes an edge',
    takes: 'form',
    body: strict({ site_id: ID, edge_id: ID, confirm: Type.Literal('yes') }),
    action: 'delete_edge',
    problems: ['unknown_edge', 'conflict'],
    handle: ({ body: { site_id, edge_id }, reply, audit }) => {
      deleteEdge(context, registry, { site_id, edge_id }, audit)
      return reply.redirect('/', 303)
    },
  }),
]

/** Whether an edge may be deleted: it has no session, and its data are no longer fresh. */
export const isGone = ({ online, last_data_at }: EdgeRecord, now: number): boolean =>
  !online && (last_data_at === null || now - last_data_at > FRESH_MS)

/** @throws Problem unknown_edge, ambiguous_edge; conflict while the edge is in use */
function deleteEdge(
  { edges, clock }: Context,
  registry: Pick<EdgeRegistry, 'deleteEdge'>,
  choice: EdgeChoice,
  audit: (note: AuditNote) => void,
): { edge_id: string; site_id: string; building_id: string } {
  const edge = findEdge(edges, choice)
  const { edge_id, site_id, building_id, name, version, last_seen_at, last_data_at } = edge
  if (!isGone(edge, clock.now())) {
    const detail = `Edge ${edge_id} is in use: stop it, or revoke its certificate, and wait ${formatDuration(FRESH_MS)}`
    throw new Problem('conflict', detail)
  }
  registry.deleteEdge(edge)
  const subject = `${site_id}/${edge_id}`
  audit({ subject, building_id, before: { name, version, building_id, last_seen_at, last_data_at }, after: null })
  return { edge_id, site_id, building_id }
}

/** The refresh of Fleet leaves it as the reader has it, open or closed. */
export const deleteEdgeForm = (
  csrf: string,
  { site_id, edge_id, building_id }: EdgeRecord,
): Html => html`<details hx-morph-skip><summary>Delete</summary>
<p>The hub forgets this edge. Points, history and faults of <code>${building_id}</code> stay, and the hub runs its rules. The certificate stays valid until it is revoked on Enrol: with it the edge can connect and is listed again.</p>
<form method="post" action="/fleet/edges/delete">${csrfField(csrf)}<input type="hidden" name="site_id" value="${site_id}"><input type="hidden" name="edge_id" value="${edge_id}">
<label class="check"><input type="checkbox" name="confirm" value="yes" required> ${edge_id} does not come back</label>
<button>Delete</button></form></details>`
