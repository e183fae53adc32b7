/** Commands on CSV packages: staging an upload, and importing what was staged. */
import type { FastifyRequest } from 'fastify'
import { hintsFor } from '#shared/core/csv/checks.ts'
import { PACKAGE_LIMITS } from '#shared/core/csv/package-limits.ts'
import { type DataError, Problem } from '#shared/core/problem.ts'
import type { StorageBudget } from '#shared/core/tenant-budget.ts'
import { type ImportResult, importPackage } from '#shared/flow/ingest/import-package.ts'
import type { CentralParts } from '#shared/central/context.ts'
import { assertSpace } from '#shared/central/import/disk-space.ts'
import { countingLoader } from '#shared/central/import/dry-run.ts'
import { preflightPackage } from '#shared/central/import/preflight.ts'
import { readTable } from '#shared/central/import/read-table.ts'
import type { ImportSession } from '#shared/central/import/sessions.ts'
import { turnLongTables } from '#shared/central/import/turn-table.ts'
import { receivePackage } from '#shared/central/import/upload.ts'
import type { Actor } from './command.ts'

/** Maximum size of an upload, bytes. `PACKAGE_LIMITS` bounds what a ZIP of this size may unpack to. */
export const PACKAGE_MAX = 256 * 1024 * 1024
export const IMPORT_MODES = ['merge', 'replace'] as const
type ImportMode = (typeof IMPORT_MODES)[number]

/**
 * Receives the files of a request and stages them with the report of what an import would do.
 *
 * @param assertFields checks the text fields of the form before anything is stored
 * @throws Problem package_invalid, too_large, workspace_full, tenant_over_budget, and what `assertFields` throws
 */
export async function stagePackage(
  context: CentralParts,
  { audit }: Pick<Actor, 'audit'>,
  request: FastifyRequest,
  assertFields: (fields: ReadonlyMap<string, string>) => void = () => undefined,
): Promise<ImportSession> {
  const { sessions } = context
  await assertSpace(context)
  const { session_id, ...folders } = await sessions.open()
  try {
    const { files: received, fields } = await receivePackage(request, folders, PACKAGE_LIMITS, PACKAGE_MAX)
    assertFields(fields)
    const files = await turnLongTables(received, folders.files)
    const { report, plan } = await preflightPackage(files, context)
    const session = await sessions.save({ session_id, files, report, plan })
    audit({ subject: report.building_id ?? session_id, after: { session_id, verdict: report.verdict } })
    return session
  } catch (error) {
    await sessions.discard(session_id)
    throw error
  }
}

/** Imports a staged package, all of it or nothing. @throws Problem unknown_session, conflict, package_invalid, workspace_full, tenant_over_budget */
export async function importStaged(
  context: CentralParts,
  { audit }: Pick<Actor, 'audit'>,
  session_id: string,
  mode: ImportMode,
): Promise<ImportResult> {
  await assertSpace(context)
  const result = await context.sessions.importOnce(session_id, session => {
    assertSeries(session, context.budget)
    return importSession(session, mode, context)
  })
  audit({ subject: result.building_id, building_id: result.building_id, after: { mode, ...result } })
  return result
}

/** @throws Problem tenant_over_budget when the package would begin more series than the tenant may have */
function assertSeries({ plan }: ImportSession, budget: StorageBudget | undefined): void {
  const excess = plan && budget?.excessOf(plan.building.building_id, new Set(plan.points.map(({ point_id }) => point_id)))
  if (excess) throw new Problem('tenant_over_budget', `Nothing is imported: ${excess.reason}`)
}

/** The result that an import would have now. For a package that was imported already, nothing is left to write. @throws as `importStaged` */
export async function importDry(context: CentralParts, session_id: string, mode: ImportMode): Promise<ImportResult> {
  const session = await context.sessions.get(session_id)
  const { result } = session
  if (!result) return importSession(session, mode, { ...context, loader: countingLoader(context.historian) })
  const { rows_in, rows_rejected, samples_written, samples_duplicate } = result
  const nothing = { rows_written: 0, rows_duplicate: rows_in - rows_rejected }
  return { ...result, ...nothing, samples_written: 0, samples_duplicate: samples_written + samples_duplicate }
}

function importSession(session: ImportSession, mode: ImportMode, { model, loader }: Pick<CentralParts, 'model' | 'loader'>) {
  const plan = executablePlan(session)
  const fileOf = new Map(session.files.map(({ path, file }) => [path, file]))
  return importPackage(plan, mode, { model, loader, readTable: table => readTable(fileOf.get(table.path)!, table) })
}

/** @throws Problem package_invalid that lists what prevents the import */
function executablePlan({ plan, report }: ImportSession) {
  if (plan && report.can_execute) return plan
  const errors = report.checks.filter(({ severity }) => severity === 'error')
  const listed = errors.map(({ code, message, examples }): DataError => ({ pointer: code, message, hint: examples.join('; ') }))
  throw new Problem('package_invalid', errors[0]?.message ?? 'The package cannot be imported', listed, hintsFor(errors))
}
