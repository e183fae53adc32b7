/** The priority history of edges, as people and programs ask for it (contract §7). Nothing of it is kept here. */
import { Type } from '@sinclair/typebox'
import {
  type AnswerOf,
  HistoryAnswer,
  HistoryRequest,
  OPERATIONS,
  type Operation,
  type RequestOf,
  TriggerAnswer,
  TriggerRequest,
  VISIT_ID,
  VisitAnswer,
} from '#shared/core/priority/wire.ts'
import { type Route, route, strict } from '#shared/node/route.ts'

export type Connectors = {
  /** @throws Problem unknown_edge; edge_unreachable, edge_failed, edge_timeout or not_ready; or what the edge itself refuses */
  ask<O extends Operation>(edge_id: string, operation: O, request: RequestOf<O>): Promise<AnswerOf<O>>
}

const Id = Type.String({ minLength: 1, maxLength: 128 })
const EdgeParams = strict({ edge_id: Id })
const BASE = '/api/connectors/:edge_id/priority-history'
const ON_THE_WAY = ['unknown_edge', 'edge_failed', 'edge_unreachable', 'edge_timeout', 'not_ready'] as const

export const connectorsRoutes = ({ ask }: Connectors): Route[] => [
  route({
    method: 'POST',
    path: BASE,
    auth: 'viewer',
    summary: 'Who commanded what at an edge, newest first; asked of the edge and not kept here',
    params: EdgeParams,
    body: HistoryRequest,
    reply: HistoryAnswer,
    problems: [...ON_THE_WAY, 'bad_cursor', 'cursor_expired', 'history_damaged'],
    handle: ({ params, body }) => ask(params.edge_id, 'priority_history', body),
  }),
  route({
    method: 'POST',
    path: `${BASE}/trigger`,
    auth: 'operator',
    summary: 'Begins one bounded visit of the priority scanner of an edge; it reads and changes nothing',
    params: EdgeParams,
    body: TriggerRequest,
    reply: TriggerAnswer,
    action: 'priority_trigger',
    problems: [...ON_THE_WAY, 'unknown_device', 'visit_in_progress', 'scanner_disabled'],
    handle: async ({ params: { edge_id }, body, reply, audit }) => {
      const answer = await ask(edge_id, 'priority_trigger', body)
      audit({ subject: edge_id, after: answer })
      reply.code(OPERATIONS.priority_trigger.status)
      return answer
    },
  }),
  route({
    method: 'GET',
    path: `${BASE}/visits/:visit_id`,
    auth: 'viewer',
    summary: 'What became of a visit',
    params: strict({ edge_id: Id, visit_id: VISIT_ID }),
    reply: VisitAnswer,
    problems: [...ON_THE_WAY, 'unknown_visit'],
    handle: ({ params: { edge_id, visit_id } }) => ask(edge_id, 'priority_visit', { visit_id }),
  }),
]
