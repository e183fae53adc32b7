import { statfs } from 'node:fs/promises'
import { Problem } from '#shared/core/problem.ts'

const MB = 1024 * 1024
/** Below this, imports stop; telemetry goes on. */
const IMPORT_MIN_MB = 256
/** What a hub of a few buildings fills in years. */
const COMFORT_MB = 5 * 1024

/** @returns megabytes free on the file system that holds `folder` */
export async function freeMb(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return Math.floor((bavail * bsize) / MB)
}

/** @throws Problem workspace_full */
export async function assertSpace(workspace: string): Promise<void> {
  const free = await freeMb(workspace)
  if (free < IMPORT_MIN_MB) throw new Problem('workspace_full', `Only ${free} MB are free; imports need ${IMPORT_MIN_MB}`)
}

/** The health check of the workspace. */
export async function checkSpace(workspace: string) {
  const free_mb = await freeMb(workspace)
  if (free_mb < IMPORT_MIN_MB) return { status: 'warn' as const, free_mb, detail: 'imports are refused; telemetry goes on' }
  return free_mb < COMFORT_MB
    ? { status: 'warn' as const, free_mb, detail: 'less than 5 GB are free' }
    : { status: 'ok' as const, free_mb }
}
