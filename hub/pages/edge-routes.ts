/** The edges of a hub as programs see them: the two signals apart, and what both together mean (contract §9). */
import { Type } from '@sinclair/typebox'
import type { CentralContext } from '#shared/central/context.ts'
import { cutPage, PAGE } from '#shared/central/routes/list.ts'
import { Problem } from '#shared/core/problem.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { formatInstant } from '#shared/core/time.ts'
import { type Route, route, strict } from '#shared/node/route.ts'
import { FRESH_MS, healthOf, reportedBy } from './fleet.ts'

export const edgeRoutes = ({ edges, clock }: Pick<CentralContext, 'edges' | 'clock'>): Route[] => [
  route({
    method: 'GET',
    path: '/api/edges',
    auth: 'viewer',
    summary: 'Edges with their session, the age of their data, and what they say of themselves',
    query: strict(PAGE),
    problems: ['bad_cursor'],
    handle: ({ query }) => {
      const sorted = edges.list().toSorted((a, b) => (a.edge_id < b.edge_id ? -1 : 1))
      const { items, ...rest } = cutPage(sorted, query, ({ edge_id }) => edge_id)
      return { ok: true, edges: items.map(edge => viewOf(edge, clock.now())), ...rest }
    },
  }),
  route({
    method: 'GET',
    path: '/api/edges/:edge_id',
    auth: 'viewer',
    summary: 'One edge',
    params: strict({ edge_id: Type.String({ minLength: 1, maxLength: 128 }) }),
    problems: ['unknown_edge'],
    handle: ({ params: { edge_id } }) => {
      const edge = edges.get(edge_id)
      if (!edge) throw new Problem('unknown_edge', `There is no edge ${edge_id}`)
      return { ok: true, edge: viewOf(edge, clock.now()) }
    },
  }),
]

function viewOf(edge: EdgeRecord, now: number) {
  const { edge_id, site_id, building_id, name, version, online, session_changed_at, last_seen_at, last_data_at } = edge
  const { backlog_oldest_at, cert_not_after, shared, ...figures } = reportedBy(edge.status_body)
  const instant = (ms: number | null) => (ms === null ? null : formatInstant(ms))
  return {
    ...{ edge_id, site_id, building_id, name, version },
    ...healthOf(edge, now),
    session: { open: online, since: instant(session_changed_at), last_seen_at: instant(last_seen_at) },
    shared: shared && { ...shared, since: instant(shared.since), last_at: instant(shared.last_at) },
    data: { fresh: last_data_at !== null && now - last_data_at <= FRESH_MS, last_at: instant(last_data_at) },
    reported: { ...figures, backlog_oldest_at: instant(backlog_oldest_at), cert_not_after: instant(cert_not_after) },
  }
}
