/** Log and diagnostics of an edge, for programs. Nothing of it is stored here. */
import { ON_THE_WAY, SiteQuery } from '#shared/central/api/connectors.ts'
import { LogAnswer, LogLevelAnswer, LogLevelRequest, LogRequest } from '#shared/core/connector/inspection-wire.ts'
import { ID } from '#shared/core/model/model.ts'
import { type Route, route, strict } from '#shared/node/http/route.ts'
import type { EdgeConnectors } from './connectors.ts'
import { diagnosticsName, readDiagnostics, setEdgeLogLevel } from './inspect-edge.ts'

const BASE = '/api/connectors/:edge_id'
/** As on the box itself, whose log and diagnostics only an admin sees. */
const common = { auth: 'admin', params: strict({ edge_id: ID }), problems: ON_THE_WAY } as const

export const edgeInspectionRoutes = (connectors: EdgeConnectors): Route[] => [
  route({
    ...common,
    method: 'GET',
    path: `${BASE}/log`,
    summary: 'The newest lines of the log of an edge, newest first, and the level that is logged',
    query: strict({ ...SiteQuery.properties, ...LogRequest.properties }),
    reply: LogAnswer,
    handle: ({ params, query: { site_id, ...request } }) => connectors.ask({ ...params, site_id }, 'log', request),
  }),
  route({
    ...common,
    method: 'PUT',
    path: `${BASE}/log/level`,
    summary: 'An edge logs more or less from now on, until it starts again',
    query: SiteQuery,
    body: LogLevelRequest,
    reply: LogLevelAnswer,
    action: 'edge_log_level',
    handle: ({ params, query, body, audit }) => setEdgeLogLevel(connectors, { ...params, ...query }, body, audit),
  }),
  route({
    ...common,
    method: 'POST',
    path: `${BASE}/diagnostics`,
    summary: 'A ZIP archive that an edge makes now of its health, settings, log and machine, without readings and secrets',
    answers: ['application/zip'],
    query: SiteQuery,
    action: 'edge_diagnostics',
    handle: async ({ params, query, audit, reply }) => {
      const file = await readDiagnostics(connectors, { ...params, ...query }, audit)
      return reply.type('application/zip').header('content-disposition', diagnosticsName(params)).send(file)
    },
  }),
]
