/** Routes for the hub over HTTP about the process of this box. Only the token of the edge opens them. */
import { INSPECTION_OPERATIONS, LogAnswer, LogLevelAnswer, DiagnosticsAnswer } from '#shared/core/connector/inspection-wire.ts'
import { type Route, route } from '#shared/node/http/route.ts'
import { hubOnly } from '../priority/connector-routes.ts'
import type { InspectionService } from './inspection-service.ts'

/** @param token as `hubOnly` takes it */
export function inspectionConnectorRoutes({ ask }: InspectionService, token: string | undefined): Route[] {
  const common = hubOnly(token)
  const { log, log_level, diagnostics } = INSPECTION_OPERATIONS
  return [
    route({
      ...common,
      method: log.method,
      path: log.path(),
      summary: 'The newest lines of the log of this box, newest first, and the level that is logged',
      body: log.request,
      reply: LogAnswer,
      handle: ({ body }) => ask('log', body),
    }),
    route({
      ...common,
      method: log_level.method,
      path: log_level.path(),
      summary: 'Logs more or less from now on, until the next start',
      body: log_level.request,
      reply: LogLevelAnswer,
      action: 'set_log_level',
      handle: ({ body }) => ask('log_level', body),
    }),
    route({
      ...common,
      method: diagnostics.method,
      path: diagnostics.path(),
      summary: 'A piece of a file of diagnostics; without the id of one a new file is made',
      body: diagnostics.request,
      reply: DiagnosticsAnswer,
      problems: ['conflict'],
      handle: ({ body }) => ask('diagnostics', body),
    }),
  ]
}
