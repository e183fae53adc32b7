import { statfs } from 'node:fs/promises'
import type { StorageBudget } from '#shared/core/tenant-budget.ts'
import { Problem } from '#shared/core/problem.ts'

const MB = 1024 * 1024
/** Imports stop below this free space, MB; telemetry continues. */
const IMPORT_MIN_MB = 256
/** Health warns below this free space, MB: a hub of a few buildings needs it for years. */
const COMFORT_MB = 5 * 1024

/** @returns free space of the file system of `folder`, MB */
export async function freeMb(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return Math.floor((bavail * bsize) / MB)
}

/** @throws Problem workspace_full, tenant_over_budget */
export async function assertSpace({
  workspace,
  budget,
}: {
  workspace: string
  budget: StorageBudget | undefined
}): Promise<void> {
  const excess = budget?.excess(0)
  if (excess) throw new Problem('tenant_over_budget', `Nothing is imported: ${excess.reason}`)
  const free = await freeMb(workspace)
  if (free < IMPORT_MIN_MB) throw new Problem('workspace_full', `Only ${free} MB are free; an import needs ${IMPORT_MIN_MB} MB`)
}

/** The health check of the workspace. */
export async function checkSpace(workspace: string) {
  const free_mb = await freeMb(workspace)
  if (free_mb < IMPORT_MIN_MB) return { status: 'warn' as const, free_mb, detail: 'imports are refused; telemetry continues' }
  return free_mb < COMFORT_MB
    ? { status: 'warn' as const, free_mb, detail: 'less than 5 GB are free' }
    : { status: 'ok' as const, free_mb }
}
