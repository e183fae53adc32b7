import { Type } from '@sinclair/typebox'
import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { historyZip } from '#shared/central/commands/export-history.ts'
import { ID } from '#shared/core/model/model.ts'
import { DATE_ORDERS } from '#shared/core/csv/timestamp.ts'
import { Problem } from '#shared/core/problem.ts'
import { formatInstant } from '#shared/core/time.ts'
import { oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext, CentralParts } from '#shared/central/context.ts'
import {
  APPENDED_ANSWER,
  CONTRACT_ANSWER,
  IMPORTED_ANSWER,
  MAPPING_ANSWER,
  STAGED_ANSWER,
  TABLE_ANSWER,
} from './schemas/import-schemas.ts'
import { importDry, IMPORT_MODES, importStaged, stagePackage, PACKAGE_MAX } from '#shared/central/commands/import.ts'
import { changeMapping, leaveTableOut, readMapping, TABLE_MAPPING } from '#shared/central/commands/import-mapping.ts'
import type { ImportSession } from '#shared/central/import/sessions.ts'
import { ChunkQueue } from '#shared/central/import/append.ts'
import { hintsOf } from '#shared/central/import/request-hints.ts'
import { ingestContract } from '#shared/central/import/contract.ts'
import { mappingOf } from '#shared/central/import/mapping.ts'
import { rejectedRows, rejectsCsv } from '#shared/central/import/rejects.ts'
import { assertSpace } from '#shared/central/import/disk-space.ts'

/** Maximum size of a chunk to append, bytes. JSON is parsed in memory; one hour of a thousand columns is a tenth of it. */
const CHUNK_MAX = 32 * 1024 * 1024

/** A mapping of ten thousand columns. */
const MAPPING_MAX = 8 * 1024 * 1024

const MOMENT = Type.Optional(Type.String({ maxLength: 40 }))
const MODE = Type.Optional(oneOf(IMPORT_MODES))
const CONFIRM = Type.Optional(Type.Boolean())
const DRY_RUN = strict({ dry_run: Type.Optional(Type.Boolean()) })

export const importRoutes = (context: CentralParts): Route[] => [
  preflightRoute(context),
  rejectsRoute(context),
  ...mappingRoutes(context),
  executeRoute(context),
  ...packageRoutes(context),
  exportRoute(context),
]

const exportRoute = (context: CentralParts) =>
  route({
    method: 'GET',
    path: '/api/csv/export',
    auth: 'viewer',
    summary: 'History of a building, or of one equipment, as a package that an import takes again',
    answers: ['application/zip'],
    query: strict({ building_id: ID, equipment_id: Type.Optional(ID), from: MOMENT, to: MOMENT }),
    problems: ['unknown_building', 'unknown_equipment', 'invalid'],
    handle: async ({ query, reply }) => sendZip(reply, await historyZip(context, query)),
  })

/** Sends a package as a download. */
export const sendZip = (reply: FastifyReply, { filename, stream }: Awaited<ReturnType<typeof historyZip>>) =>
  reply.type('application/zip').header('content-disposition', `attachment; filename="${filename}"`).send(stream)

const preflightRoute = (context: CentralParts) =>
  route({
    method: 'POST',
    path: '/api/csv/import/preflight',
    hints: hintsOf('preflight'),
    auth: 'operator',
    summary: 'Stages a CSV package and says what importing it would do',
    takes: 'upload',
    bodyMax: PACKAGE_MAX,
    reply: STAGED_ANSWER,
    action: 'preflight',
    problems: ['package_invalid', 'workspace_full', 'tenant_over_budget'],
    handle: async call => {
      return staged(await stagePackage(context, call, call.request))
    },
  })

const rejectsRoute = ({ sessions }: CentralParts) =>
  route({
    method: 'GET',
    path: '/api/csv/import/preflight/:session_id/rejects.csv',
    hints: hintsOf('preflight'),
    auth: 'operator',
    summary: 'The rows of a staged package that an import leaves out, as CSV',
    answers: ['text/csv'],
    params: strict({ session_id: Type.String() }),
    query: strict({ as: Type.Optional(oneOf(['list', 'rows'])), table: Type.Optional(Type.String({ maxLength: 1024 })) }),
    problems: ['unknown_session', 'not_found'],
    handle: async ({ params, query, reply }) => {
      const session = await sessions.get(params.session_id)
      if (session.result) throw new Problem('unknown_session', 'The package was imported, and its files are gone')
      reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="rejects.csv"')
      return reply.send(Readable.from(query.as === 'rows' ? rejectedRows(session, query.table) : rejectsCsv(session)))
    },
  })

/** Of several tables, as `tables[]` names it. */
const TABLE = Type.Optional(Type.String({ maxLength: 128 }))

const staged = ({ session_id, expires_at, report }: ImportSession) => ({
  ok: true,
  session_id,
  expires_at: formatInstant(expires_at),
  ...report,
})

const mappingRoutes = (context: CentralParts): Route[] => {
  const path = '/api/csv/import/preflight/:session_id/mapping'
  const common = { hints: hintsOf('preflight'), auth: 'operator', params: strict({ session_id: Type.String() }) } as const
  return [
    route({
      ...common,
      method: 'GET',
      path,
      summary: 'What the columns of a staged table are taken for, with its header and first rows, and which tables there are',
      query: strict({ table: TABLE }),
      reply: TABLE_ANSWER,
      problems: ['unknown_session', 'not_found', 'conflict'],
      handle: async ({ params: { session_id }, query }) => {
        const { tables, table, head, mapping } = await readMapping(context, session_id, query.table)
        return { ok: true, session_id, tables, table: table.table, ...head, mapping }
      },
    }),
    route({
      ...common,
      method: 'PUT',
      path,
      summary: 'Says what the columns of a staged table are, and checks the package again',
      query: strict({ table: TABLE }),
      bodyMax: MAPPING_MAX,
      body: TABLE_MAPPING,
      reply: STAGED_ANSWER,
      action: 'map_columns',
      problems: ['unknown_session', 'not_found', 'conflict', 'invalid'],
      handle: async call => {
        const at = { session_id: call.params.session_id, table: call.query.table }
        return staged(await changeMapping(context, call, at, call.body))
      },
    }),
    route({
      ...common,
      method: 'DELETE',
      path,
      summary: 'Leaves one of several staged tables out, and checks the rest again',
      query: strict({ table: Type.String({ maxLength: 128 }) }),
      reply: STAGED_ANSWER,
      action: 'leave_table_out',
      problems: ['unknown_session', 'not_found', 'conflict'],
      handle: async call => staged(await leaveTableOut(context, call, call.params.session_id, call.query.table)),
    }),
  ]
}

const executeRoute = (context: CentralParts) =>
  route({
    method: 'POST',
    path: '/api/csv/import/execute',
    hints: hintsOf('execute'),
    auth: 'operator',
    summary: 'Imports a staged package, all of it or nothing',
    body: strict({ session_id: Type.String(), confirm: CONFIRM, mode: MODE }),
    query: DRY_RUN,
    reply: IMPORTED_ANSWER,
    action: 'import',
    idempotent: true,
    problems: ['unknown_session', 'confirm_required', 'package_invalid', 'conflict', 'workspace_full', 'tenant_over_budget'],
    handle: async call => {
      const { confirm, mode = 'merge', session_id } = call.body
      assertConfirmed(confirm)
      const started = performance.now()
      const { dry_run = false } = call.query
      const result = dry_run ? await importDry(context, session_id, mode) : await importStaged(context, call, session_id, mode)
      return { ok: true, ...(dry_run && { dry_run }), ...result, total_ms: Math.round(performance.now() - started) }
    },
  })

const appendRoute = (context: CentralContext, chunks: ChunkQueue) =>
  route({
    method: 'POST',
    path: '/api/csv/import/package/append',
    hints: hintsOf('append'),
    auth: 'operator',
    summary: 'Adds a chunk of CSV rows to equipment that a package has brought',
    body: strict({
      confirm: CONFIRM,
      building_id: ID,
      equipment_id: ID,
      csv: Type.String(),
      date_order: Type.Optional(oneOf(DATE_ORDERS)),
    }),
    bodyMax: CHUNK_MAX,
    wrongMediaType: 'append_takes_json',
    reply: APPENDED_ANSWER,
    action: 'append',
    idempotent: true,
    problems: [
      'append_takes_json',
      'confirm_required',
      'unknown_building',
      'unknown_equipment',
      'mapping_empty',
      'package_invalid',
      'conflict',
      'not_ready',
      'workspace_full',
      'tenant_over_budget',
    ],
    handle: async ({ body, audit }) => {
      assertConfirmed(body.confirm)
      await assertSpace(context)
      const { ts_min, ts_max, ...counts } = await chunks.append(body)
      const { checks: _checks, ...after } = counts
      audit({ subject: `${body.building_id}/${body.equipment_id}`, after })
      return { ok: true, ...counts, ts_min: formatInstant(ts_min), ts_max: formatInstant(ts_max) }
    },
  })

const packageRoutes = (context: CentralContext): Route[] => [
  appendRoute(context, new ChunkQueue(context)),
  route({
    method: 'GET',
    path: '/api/csv/import/package/mapping',
    hints: hintsOf('mapping'),
    auth: 'viewer',
    summary: 'What the columns of imported packages are mapped to',
    query: strict({ building_id: ID, equipment_id: Type.Optional(ID) }),
    reply: MAPPING_ANSWER,
    problems: ['unknown_building', 'unknown_equipment', 'mapping_empty'],
    handle: async ({ query }) => ({ ok: true, ...(await mappingOf(query, context)) }),
  }),
  route({
    method: 'GET',
    path: '/api/ingest/contract',
    auth: 'viewer',
    anyBuilding: true,
    summary: 'What a package must hold, the roles, the units and the limits',
    reply: CONTRACT_ANSWER,
    handle: () => ({ ok: true, ...ingestContract({ uploadMax: PACKAGE_MAX, chunkMax: CHUNK_MAX }) }),
  }),
]

/** @throws Problem confirm_required */
function assertConfirmed(confirm: boolean | undefined): void {
  if (confirm !== true) throw new Problem('confirm_required', 'This changes data; send confirm: true')
}
