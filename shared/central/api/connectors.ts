/** The priority history of edges, for people and programs (contract §7). Nothing of it is stored here. */
import { Type } from '@sinclair/typebox'
import type { AnswerOf, PriorityOperation, RequestOf } from '#shared/core/connector/edge-operations.ts'
import {
  HistoryAnswer,
  HistoryRequest,
  PRIORITY_OPERATIONS,
  TriggerAnswer,
  TriggerRequest,
  VISIT_ID,
  VisitAnswer,
} from '#shared/core/priority/priority-wire.ts'
import { ID } from '#shared/core/model/model.ts'
import type { EdgeChoice } from '#shared/core/telemetry/find-edge.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'

export type Connectors = {
  /** The edge's name with its site, for the audit. @throws Problem unknown_edge or ambiguous_edge */
  nameOf(edge: EdgeChoice): string
  /** @throws Problem unknown_edge or ambiguous_edge; edge_unreachable, edge_failed, edge_timeout or not_ready; or what the edge itself refuses */
  ask<O extends PriorityOperation>(edge: EdgeChoice, operation: O, request: RequestOf<O>): Promise<AnswerOf<O>>
}

const EdgeParams = strict({ edge_id: ID })
export const SiteQuery = strict({ site_id: Type.Optional(ID) })
const BASE = '/api/connectors/:edge_id/priority-history'
/** Problems on the way to an edge. */
export const ON_THE_WAY = [
  'unknown_edge',
  'ambiguous_edge',
  'edge_failed',
  'edge_unreachable',
  'edge_timeout',
  'not_ready',
] as const

export const connectorsRoutes = ({ ask, nameOf }: Connectors): Route[] => [
  route({
    method: 'POST',
    path: BASE,
    auth: 'viewer',
    summary: 'Who commanded what at an edge, newest first; asked of the edge and not kept here',
    params: EdgeParams,
    query: SiteQuery,
    body: HistoryRequest,
    reply: HistoryAnswer,
    problems: [...ON_THE_WAY, 'bad_cursor', 'cursor_expired', 'history_damaged'],
    handle: ({ params, query, body }) => ask({ ...params, ...query }, 'priority_history', body),
  }),
  route({
    method: 'POST',
    path: `${BASE}/trigger`,
    auth: 'operator',
    summary: 'Begins one bounded visit of the priority scanner of an edge; it reads and changes nothing',
    params: EdgeParams,
    query: SiteQuery,
    body: TriggerRequest,
    reply: TriggerAnswer,
    statuses: [202],
    action: 'priority_trigger',
    problems: [...ON_THE_WAY, 'unknown_device', 'visit_in_progress', 'scanner_disabled'],
    handle: async ({ params: { edge_id }, query, body, reply, audit }) => {
      const answer = await ask({ edge_id, ...query }, 'priority_trigger', body)
      audit({ subject: nameOf({ edge_id, ...query }), after: answer })
      reply.code(PRIORITY_OPERATIONS.priority_trigger.status)
      return answer
    },
  }),
  route({
    method: 'GET',
    path: `${BASE}/visits/:visit_id`,
    auth: 'viewer',
    summary: 'What became of a visit',
    params: strict({ edge_id: ID, visit_id: VISIT_ID }),
    query: SiteQuery,
    reply: VisitAnswer,
    problems: [...ON_THE_WAY, 'unknown_visit'],
    handle: ({ params: { edge_id, visit_id }, query }) => ask({ edge_id, ...query }, 'priority_visit', { visit_id }),
  }),
]
