/** Routes for those who look after the process: its settings, its log, and a file of diagnostics. */
import { Type } from '@sinclair/typebox'
import { SOURCES } from '#shared/core/env.ts'
import { oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { setLogLevel } from '#shared/central/commands/log-level.ts'
import { diagnosticsFile } from '#shared/central/diagnostics.ts'
import { LOG_LEVELS, LOG_LIMIT, type LogLevel, levelOf, readLog } from '#shared/central/inspection.ts'

const VARIABLE = Type.Object({ name: Type.String(), value: Type.String(), source: oneOf(SOURCES), doc: Type.String() })
const LEVEL = oneOf(LOG_LEVELS)

export const inspectionRoutes = (context: CentralContext): Route[] => [
  route({
    method: 'GET',
    path: '/api/config/effective',
    auth: 'admin',
    summary: 'Every variable with its value and where it comes from, as read at the start; secrets are masked',
    reply: Type.Object({ ok: Type.Literal(true), settings: Type.Array(VARIABLE) }),
    handle: () => ({ ok: true, settings: context.inspection.effective }),
  }),
  route({
    method: 'GET',
    path: '/api/log',
    auth: 'admin',
    summary: 'The newest lines of the log of this process, newest first, and the level that is logged',
    query: strict({
      level: Type.Optional(LEVEL),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: LOG_LIMIT, default: 100 })),
    }),
    handle: ({ query: { level = 'debug', limit = 100 } }) => {
      const { inspection } = context
      return { ok: true, level: levelOf(inspection), lines: readLog(inspection, level, limit) }
    },
  }),
  route({
    method: 'PUT',
    path: '/api/log/level',
    auth: 'admin',
    summary: 'Logs more or less from now on, until the next start',
    body: strict({ level: LEVEL }),
    action: 'set_log_level',
    handle: call => {
      setLogLevel(context, call, call.body.level as LogLevel)
      return { ok: true, level: levelOf(context.inspection) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/diagnostics',
    auth: 'admin',
    summary: 'A ZIP archive of health, settings, log, edges, runs and machine, without readings and secrets',
    handle: async ({ reply }) =>
      reply
        .type('application/zip')
        .header('content-disposition', `attachment; filename="plenum-${context.service}-diagnostics.zip"`)
        .send(await diagnosticsFile(context)),
  }),
]
