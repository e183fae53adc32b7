/** Routes for the hub over HTTP. Only the token of the edge opens them. */
import {
  HistoryAnswer,
  HistoryRequest,
  PRIORITY_OPERATIONS,
  TriggerAnswer,
  TriggerRequest,
  VisitAnswer,
  VisitRequest,
} from '#shared/core/priority/priority-wire.ts'
import { type Route, route } from '#shared/node/http/route.ts'
import type { HistoryService } from './history-service.ts'

/** Largest request, bytes. */
const BODY_MAX = 16 * 1024

/** What every route for the hub has in common. @param token `edge.token` of the kit; without it every request is refused */
export const hubOnly = (token: string | undefined) =>
  ({
    auth: 'edge',
    bearer: { subject: 'hub', value: token, variable: 'edge.token of the kit' },
    bodyMax: BODY_MAX,
  }) as const

/** @param token as `hubOnly` takes it */
export function connectorRoutes({ ask }: HistoryService, token: string | undefined): Route[] {
  const common = hubOnly(token)
  const { priority_history, priority_trigger, priority_visit } = PRIORITY_OPERATIONS
  return [
    route({
      ...common,
      method: 'POST',
      path: priority_history.path(),
      summary: 'Records of priority arrays, newest first',
      body: HistoryRequest,
      reply: HistoryAnswer,
      problems: ['bad_cursor', 'cursor_expired', 'history_damaged'],
      handle: ({ body }) => ask('priority_history', body),
    }),
    route({
      ...common,
      method: 'POST',
      path: priority_trigger.path(),
      summary: 'Begins one bounded visit now; it reads and changes nothing',
      body: TriggerRequest,
      reply: TriggerAnswer,
      statuses: [202],
      action: 'priority_trigger',
      problems: ['unknown_device', 'visit_in_progress', 'scanner_disabled'],
      handle: ({ body, reply, audit }) => {
        const answer = ask('priority_trigger', body)
        audit({ subject: answer.visit_id, after: answer })
        reply.code(priority_trigger.status)
        return answer
      },
    }),
    route({
      ...common,
      method: 'GET',
      path: priority_visit.path(':visit_id'),
      summary: 'State and result of a visit',
      params: VisitRequest,
      reply: VisitAnswer,
      problems: ['unknown_visit'],
      handle: ({ params }) => ask('priority_visit', params),
    }),
  ]
}
