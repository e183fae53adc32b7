/** The HTTPS address of an edge, which comes from the edge's metadata or is set here by an operator. */
import { Type } from '@sinclair/typebox'
import { readConnectorUrl } from '#shared/core/connector-url.ts'
import { SiteQuery } from '#shared/central/api/connectors.ts'
import { findEdge } from '#shared/core/telemetry/find-edge.ts'
import { edgeName, ID } from '#shared/core/model/model.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeStore } from '#shared/core/stores.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'

const Params = strict({ edge_id: ID })
const Address = Type.Union([Type.String({ minLength: 1, maxLength: 1024 }), Type.Null()])
const Reply = Type.Object({ ok: Type.Literal(true), edge_id: Type.String(), site_id: Type.String(), connector_url: Address })

export function addressRoutes(edges: EdgeStore): Route[] {
  const path = '/api/connectors/:edge_id'
  return [
    route({
      method: 'GET',
      path,
      auth: 'viewer',
      summary: 'The HTTPS address of an edge; null where requests go over the broker',
      params: Params,
      query: SiteQuery,
      reply: Reply,
      problems: ['unknown_edge', 'ambiguous_edge'],
      handle: ({ params, query }) => {
        const { edge_id, site_id, connector_url } = findEdge(edges, { ...params, ...query })
        return { ok: true, edge_id, site_id, connector_url: connector_url ?? null }
      },
    }),
    route({
      method: 'PUT',
      path,
      auth: 'operator',
      summary: 'Sets the HTTPS address of an edge; null sends requests over the broker',
      params: Params,
      query: SiteQuery,
      body: strict({ connector_url: Address }),
      reply: Reply,
      action: 'connector_url',
      problems: ['unknown_edge', 'ambiguous_edge', 'invalid'],
      handle: ({ params, query, body, audit }) => {
        const { connector_url: before, ...edge } = findEdge(edges, { ...params, ...query })
        const { edge_id, site_id } = edge
        const read = body.connector_url === null ? undefined : readConnectorUrl(body.connector_url)
        if (read?.ok === false) {
          throw new Problem('invalid', `connector_url ${read.reason}`, [{ pointer: '/connector_url', message: read.reason }])
        }
        edges.put({ ...edge, ...(read && { connector_url: read.url }) })
        const after = read?.url ?? null
        audit({ subject: edgeName(edge), before: before ?? null, after })
        return { ok: true, edge_id, site_id, connector_url: after }
      },
    }),
  ]
}
