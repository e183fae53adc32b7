/** Where the hub reaches an edge: said by the edge's own metadata, or here by an operator. */
import { Type } from '@sinclair/typebox'
import { readConnectorUrl } from '#shared/core/connector-url.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeStore } from '#shared/core/stores.ts'
import { type Route, route, strict } from '#shared/node/route.ts'

const Params = strict({ edge_id: Type.String({ minLength: 1, maxLength: 128 }) })
const Address = Type.Union([Type.String({ minLength: 1, maxLength: 1024 }), Type.Null()])
const Reply = Type.Object({ ok: Type.Literal(true), edge_id: Type.String(), connector_url: Address })

export function addressRoutes(edges: EdgeStore): Route[] {
  const known = (edge_id: string) => {
    const edge = edges.get(edge_id)
    if (!edge) throw new Problem('unknown_edge', `No edge ${edge_id} has reported here`)
    return edge
  }
  const path = '/api/connectors/:edge_id'
  return [
    route({
      method: 'GET',
      path,
      auth: 'viewer',
      summary: 'The address of an edge; null where it is asked over the broker',
      params: Params,
      reply: Reply,
      problems: ['unknown_edge'],
      handle: ({ params: { edge_id } }) => ({ ok: true, edge_id, connector_url: known(edge_id).connector_url ?? null }),
    }),
    route({
      method: 'PUT',
      path,
      auth: 'operator',
      summary: 'Sets the HTTPS address of an edge, or with null that it is asked over the broker',
      params: Params,
      body: strict({ connector_url: Address }),
      reply: Reply,
      action: 'connector_url',
      problems: ['unknown_edge', 'invalid'],
      handle: ({ params: { edge_id }, body, audit }) => {
        const { connector_url: before, ...edge } = known(edge_id)
        const read = body.connector_url === null ? undefined : readConnectorUrl(body.connector_url)
        if (read?.ok === false) {
          throw new Problem('invalid', `connector_url ${read.reason}`, [{ pointer: '/connector_url', message: read.reason }])
        }
        edges.put({ ...edge, ...(read && { connector_url: read.url }) })
        const after = read?.url ?? null
        audit({ subject: edge_id, before: before ?? null, after })
        return { ok: true, edge_id, connector_url: after }
      },
    }),
  ]
}
