import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ExecutionContext } from 'ava'

/** A temporary folder that goes when the test ends. */
export function folder(t: Pick<ExecutionContext, 'teardown'>): string {
  const path = mkdtempSync(join(tmpdir(), 'plenum-transport-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Looks every 20 ms until `holds`; a deadline far above what a busy machine needs. */
export async function until(holds: () => boolean, what: string, deadlineMs = 30_000): Promise<void> {
  for (const end = Date.now() + deadlineMs; !holds(); ) {
    if (Date.now() > end) throw new Error(`not within ${deadlineMs / 1000} s: ${what}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}
