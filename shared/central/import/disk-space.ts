import { diskLevel, usedPercent } from '#shared/core/disk-use.ts'
import { diskSpace } from '#shared/node/disk-watch.ts'
import type { StorageBudget } from '#shared/core/tenant-budget.ts'
import { Problem } from '#shared/core/problem.ts'

const MB = 1024 * 1024
/** Imports stop below this free space, MB; telemetry continues. */
const IMPORT_MIN_MB = 256
/** Health warns below this free space, MB: a hub of a few buildings needs it for years. */
const COMFORT_MB = 5 * 1024

/** @returns free space of the file system of `folder`, MB */
export async function freeMb(folder: string): Promise<number> {
  return Math.floor((await diskSpace(folder)).free_bytes / MB)
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

function spaceDetail(free_mb: number): string[] {
  if (free_mb < IMPORT_MIN_MB) return ['imports are refused; telemetry continues']
  return free_mb < COMFORT_MB ? ['less than 5 GB are free'] : []
}

/**
 * The health check of the workspace.
 *
 * @param isFull readings wait until there is space
 */
export async function checkSpace(workspace: string, isFull: boolean) {
  const disk = await diskSpace(workspace)
  const [free_mb, used_percent] = [Math.floor(disk.free_bytes / MB), usedPercent(disk)]
  const details = [
    ...(diskLevel(used_percent) === undefined ? [] : [`the disk is ${used_percent} % full`]),
    ...(isFull ? ['imports are refused, and readings wait until there is space'] : spaceDetail(free_mb)),
  ]
  return {
    status: details.length > 0 ? ('warn' as const) : ('ok' as const),
    free_mb,
    used_percent,
    ...(details.length > 0 && { detail: details.join('; ') }),
  }
}
