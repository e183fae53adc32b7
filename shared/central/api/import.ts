import { Type } from '@sinclair/typebox'
import { Readable } from 'node:stream'
import { ID } from '#shared/core/model/model.ts'
import { hintsFor } from '#shared/core/csv/checks.ts'
import { PACKAGE_LIMITS } from '#shared/core/csv/package-limits.ts'
import { DATE_ORDERS } from '#shared/core/csv/timestamp.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import { formatInstant } from '#shared/core/time.ts'
import { importPackage } from '#shared/flow/ingest/import-package.ts'
import { oneOf, route, type Route, strict } from '#shared/node/http/route.ts'
import type { CentralContext } from '#shared/central/context.ts'
import { ChunkQueue } from '#shared/central/import/append.ts'
import { countingLoader } from '#shared/central/import/dry-run.ts'
import { hintsOf } from '#shared/central/import/request-hints.ts'
import { ingestContract } from '#shared/central/import/contract.ts'
import { mappingOf } from '#shared/central/import/mapping.ts'
import { preflightPackage } from '#shared/central/import/preflight.ts'
import { rejectsCsv } from '#shared/central/import/rejects.ts'
import type { ImportSession, ImportSessions } from '#shared/central/import/sessions.ts'
import { assertSpace } from '#shared/central/import/disk-space.ts'
import { readTable } from '#shared/central/import/read-table.ts'
import { receivePackage } from '#shared/central/import/upload.ts'

/** Maximum size of an upload, bytes. `PACKAGE_LIMITS` bounds what a ZIP of this size may unpack to. */
const UPLOAD_MAX = 256 * 1024 * 1024
/** Maximum size of a chunk to append, bytes. JSON is parsed in memory; one hour of a thousand columns is a tenth of it. */
const CHUNK_MAX = 32 * 1024 * 1024

const MODE = Type.Optional(oneOf(['merge', 'replace']))
const CONFIRM = Type.Optional(Type.Boolean())
const DRY_RUN = strict({ dry_run: Type.Optional(Type.Boolean()) })

export function importRoutes(context: CentralContext, sessions: ImportSessions): Route[] {
  return [preflightRoute(context, sessions), rejectsRoute(sessions), executeRoute(context, sessions), ...packageRoutes(context)]
}

const preflightRoute = (context: CentralContext, sessions: ImportSessions) =>
  route({
    method: 'POST',
    path: '/api/csv/import/preflight',
    hints: hintsOf('preflight'),
    auth: 'operator',
    summary: 'Stages a CSV package and says what importing it would do',
    takes: 'upload',
    bodyMax: UPLOAD_MAX,
    action: 'preflight',
    problems: ['package_invalid', 'workspace_full'],
    handle: async ({ request, audit }) => {
      await assertSpace(context.workspace)
      const { session_id, ...folders } = await sessions.open()
      try {
        const files = await receivePackage(request, folders, PACKAGE_LIMITS, UPLOAD_MAX)
        const { report, plan } = await preflightPackage(files, context)
        const { expires_at } = await sessions.save({ session_id, files, report, plan })
        audit({ subject: report.building_id ?? session_id, after: { session_id, verdict: report.verdict } })
        return { ok: true, session_id, expires_at: formatInstant(expires_at), ...report }
      } catch (error) {
        await sessions.discard(session_id)
        throw error
      }
    },
  })

const rejectsRoute = (sessions: ImportSessions) =>
  route({
    method: 'GET',
    path: '/api/csv/import/preflight/:session_id/rejects.csv',
    hints: hintsOf('preflight'),
    auth: 'operator',
    summary: 'The rows of a staged package that an import leaves out, as CSV',
    params: strict({ session_id: Type.String() }),
    problems: ['unknown_session'],
    handle: async ({ params, reply }) => {
      const session = await sessions.get(params.session_id)
      if (session.result) throw new Problem('unknown_session', 'The package was imported, and its files are gone')
      reply.type('text/csv; charset=utf-8').header('content-disposition', 'attachment; filename="rejects.csv"')
      return reply.send(Readable.from(rejectsCsv(session)))
    },
  })

const executeRoute = (context: CentralContext, sessions: ImportSessions) =>
  route({
    method: 'POST',
    path: '/api/csv/import/execute',
    hints: hintsOf('execute'),
    auth: 'operator',
    summary: 'Imports a staged package, all of it or nothing',
    body: strict({ session_id: Type.String(), confirm: CONFIRM, mode: MODE }),
    query: DRY_RUN,
    action: 'import',
    idempotent: true,
    problems: ['unknown_session', 'confirm_required', 'package_invalid', 'conflict', 'workspace_full'],
    handle: async ({ body, query, audit }) => {
      assertConfirmed(body.confirm)
      const started = performance.now()
      const { mode = 'merge', session_id } = body
      if (query.dry_run) {
        const result = await dryRun(await sessions.get(session_id), mode, context)
        return { ok: true, dry_run: true, ...result, total_ms: Math.round(performance.now() - started) }
      }
      await assertSpace(context.workspace)
      const result = await sessions.importOnce(session_id, session => importSession(session, mode, context))
      audit({ subject: result.building_id, building_id: result.building_id, after: { mode, ...result } })
      return { ok: true, ...result, total_ms: Math.round(performance.now() - started) }
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
    ],
    handle: async ({ body, audit }) => {
      assertConfirmed(body.confirm)
      await assertSpace(context.workspace)
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
    problems: ['unknown_building', 'unknown_equipment', 'mapping_empty'],
    handle: async ({ query }) => ({ ok: true, ...(await mappingOf(query, context)) }),
  }),
  route({
    method: 'GET',
    path: '/api/ingest/contract',
    auth: 'viewer',
    anyBuilding: true,
    summary: 'What a package must hold, the roles, the units and the limits',
    handle: () => ({ ok: true, ...ingestContract({ uploadMax: UPLOAD_MAX, chunkMax: CHUNK_MAX }) }),
  }),
]

/** @throws Problem confirm_required */
function assertConfirmed(confirm: boolean | undefined): void {
  if (confirm !== true) throw new Problem('confirm_required', 'This changes data; send confirm: true')
}

function importSession(session: ImportSession, mode: 'merge' | 'replace', { model, loader }: CentralContext) {
  const plan = executablePlan(session)
  const fileOf = new Map(session.files.map(({ path, file }) => [path, file]))
  return importPackage(plan, mode, { model, loader, readTable: table => readTable(fileOf.get(table.path)!, table) })
}

/** @throws Problem package_invalid that lists what keeps the package from being imported */
function executablePlan({ plan, report }: ImportSession) {
  if (plan && report.can_execute) return plan
  const errors = report.checks.filter(({ severity }) => severity === 'error')
  const listed = errors.map(({ code, message, examples }): DataError => ({ pointer: code, message, hint: examples.join('; ') }))
  throw new Problem('package_invalid', errors[0]?.message ?? 'The package cannot be imported', listed, hintsFor(errors))
}

/** What execute would answer now: of a package that was imported already, that nothing is left to write. */
async function dryRun(session: ImportSession, mode: 'merge' | 'replace', context: CentralContext) {
  const { result } = session
  if (!result) return importSession(session, mode, { ...context, loader: countingLoader(context.historian) })
  const { rows_in, rows_rejected, samples_written, samples_duplicate } = result
  const nothing = { rows_written: 0, rows_duplicate: rows_in - rows_rejected }
  return { ...result, ...nothing, samples_written: 0, samples_duplicate: samples_written + samples_duplicate }
}
