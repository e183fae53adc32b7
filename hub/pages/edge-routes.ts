/** JSON routes of the edges: session and data freshness separately, and the status that follows from both (contract §9). */
import { isFresh } from '#shared/core/telemetry/fresh-data.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { cutPage, PAGE } from '#shared/central/api/list.ts'
import { SiteQuery } from '#shared/central/api/connectors.ts'
import { findEdge } from '#shared/core/telemetry/find-edge.ts'
import { edgeName, ID } from '#shared/core/model/model.ts'
import type { EdgeRecord } from '#shared/core/stores.ts'
import { formatInstant } from '#shared/core/time.ts'
import type { EdgeNotices } from '#shared/flow/ingest/edge-notices.ts'
import type { EdgeRegistry } from '#shared/flow/ingest/edge-registry.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'
import { EDGE_ANSWER, EDGES_ANSWER } from './edge-schemas.ts'
import { edgeBacklogCourse, healthOf, reportedBy } from './fleet-status.ts'

type Context = Pick<CentralContext, 'edges' | 'clock'> & { registry?: Pick<EdgeRegistry, 'notices'> }

export const edgeRoutes = ({ edges, clock, registry }: Context): Route[] => [
  route({
    method: 'GET',
    path: '/api/edges',
    auth: 'viewer',
    summary: 'Edges with their session, data freshness and reported figures',
    query: strict(PAGE),
    reply: EDGES_ANSWER,
    problems: ['bad_cursor'],
    handle: ({ query }) => {
      const { items, ...rest } = cutPage(edges.list(), query, edgeName)
      return { ok: true, edges: items.map(edge => edgeView(edge, clock.now(), registry?.notices)), ...rest }
    },
  }),
  route({
    method: 'GET',
    path: '/api/edges/:edge_id',
    auth: 'viewer',
    summary: 'One edge',
    params: strict({ edge_id: ID }),
    query: SiteQuery,
    reply: EDGE_ANSWER,
    problems: ['unknown_edge', 'ambiguous_edge'],
    handle: ({ params, query }) => {
      const edge = findEdge(edges, { ...params, ...query })
      return { ok: true, edge: edgeView(edge, clock.now(), registry?.notices) }
    },
  }),
]

export function edgeView(edge: EdgeRecord, now: number, notices?: Pick<EdgeNotices, 'misdatedOf'>) {
  const { edge_id, site_id, building_id, name, version, online, session_changed_at, last_seen_at, last_data_at } = edge
  const reported = reportedBy(edge.status_body)
  const { backlog_oldest_at, cert_not_after, last_check_at, shared, sent_at, ...figures } = reported
  const course = edgeBacklogCourse(reported, online, now)
  const misdated = notices?.misdatedOf(edge)
  const { status, reason, since = null } = healthOf(edge, now)
  const instant = (ms: number | null) => (ms === null ? null : formatInstant(ms))
  return {
    ...{ edge_id, site_id, building_id, name, version, version_since: instant(edge.version_since) },
    status,
    reason,
    status_since: instant(since),
    session: { open: online, since: instant(session_changed_at), last_seen_at: instant(last_seen_at) },
    shared: shared && { ...shared, since: instant(shared.since), last_at: instant(shared.last_at) },
    data: { fresh: isFresh(last_data_at, now), last_at: instant(last_data_at) },
    misdated: misdated ? { ...misdated, since: formatInstant(misdated.since), last_at: formatInstant(misdated.last_at) } : null,
    reported: {
      ...figures,
      backlog_oldest_at: instant(backlog_oldest_at),
      backlog_empty_at: course.state === 'falling' ? instant(course.empty_at) : null,
      cert_not_after: instant(cert_not_after),
      last_check_at: instant(last_check_at),
      sent_at: instant(sent_at),
    },
  }
}
