/** Routes for those who look after the process: its settings, its log, and a file of diagnostics. */
import { Type } from '@sinclair/typebox'
import { SOURCES } from '#shared/core/env.ts'
import { STORAGE_CLASSES } from '#shared/core/disk-use.ts'
import { oneOf, route, type Route } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { setLogLevel } from '#shared/central/commands/log-level.ts'
import { boundOrNull } from '#shared/central/storage.ts'
import { diagnosticsFile } from '#shared/central/diagnostics.ts'
import { levelOf, readLog } from '#shared/central/inspection.ts'
import { LogAnswer, LogLevelAnswer, LogLevelRequest, LogRequest } from '#shared/core/connector/inspection-wire.ts'

const VARIABLE = Type.Object({ name: Type.String(), value: Type.String(), source: oneOf(SOURCES), doc: Type.String() })
const MAX_BYTES = Type.Union([Type.Number(), Type.Null()])
const STORAGE_USE = Type.Object({ name: oneOf(STORAGE_CLASSES), bytes: Type.Integer(), max_bytes: MAX_BYTES })
const MONTH = Type.Union([Type.String({ description: 'UTC, 2026-03' }), Type.Null()])
const BUILDING_HISTORY = Type.Object({
  ...{ building_id: Type.String(), bytes: Type.Integer(), max_bytes: MAX_BYTES, whole_from: MONTH, thinned_from: MONTH },
})

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
    path: '/api/storage',
    auth: 'admin',
    summary:
      'How much each class of data takes on the disk, and the most that it may, bytes; what is kept of the history of each building',
    reply: Type.Object({
      ...{ ok: Type.Literal(true), storage: Type.Array(STORAGE_USE), history: Type.Array(BUILDING_HISTORY) },
    }),
    handle: async () => ({
      ok: true,
      storage: await context.storage(),
      history: context.historyExtents().map(one => ({ ...one, max_bytes: boundOrNull(one.max_bytes) })),
    }),
  }),
  route({
    method: 'GET',
    path: '/api/log',
    auth: 'admin',
    summary: 'The newest lines of the log of this process, newest first, and the level that is logged',
    query: LogRequest,
    reply: LogAnswer,
    handle: ({ query }) => readLog(context.inspection, query),
  }),
  route({
    method: 'PUT',
    path: '/api/log/level',
    auth: 'admin',
    summary: 'Logs more or less from now on, until the next start',
    body: LogLevelRequest,
    reply: LogLevelAnswer,
    action: 'set_log_level',
    handle: call => {
      setLogLevel(context, call, call.body.level)
      return { ok: true, level: levelOf(context.inspection) }
    },
  }),
  route({
    method: 'GET',
    path: '/api/diagnostics',
    auth: 'admin',
    summary: 'A ZIP archive of health, settings, log, edges, runs and machine, without readings and secrets',
    answers: ['application/zip'],
    handle: async ({ reply }) =>
      reply
        .type('application/zip')
        .header('content-disposition', `attachment; filename="plenum-${context.service}-diagnostics.zip"`)
        .send(await diagnosticsFile(context)),
  }),
]
