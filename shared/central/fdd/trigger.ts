import { existsSync, statSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorText } from '#shared/core/error-text.ts'
import { Problem } from '#shared/core/problem.ts'

/** The file whose presence requests a run: anyone who may write to the workspace can request one. */
export type Trigger = {
  /** @throws Problem not_ready when it cannot be written */
  ask(): Promise<void>
  isAsked(): boolean
  /** @returns whether it was there; it is gone then. One that cannot be removed asks for one run, and `fault` says so */
  take(): Promise<boolean>
  /** Why the file could not be removed. */
  fault(): string | undefined
}

export function openTrigger(workspace: string): Trigger {
  const path = join(workspace, 'config', '.run_fdd_now')
  /** Modification time of the file that could not be removed. */
  let left: { at: number; fault: string } | undefined
  return {
    async ask() {
      try {
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, '')
      } catch (error) {
        throw new Problem('not_ready', `A run cannot be requested: ${errorText(error)}`)
      }
    },
    isAsked: () => existsSync(path),
    async take() {
      const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs
      const before = left
      left = undefined
      if (at === undefined) return false
      try {
        await rm(path, { force: true })
        return true
      } catch (error) {
        left = { at, fault: `${path} asks for a run and cannot be removed: ${errorText(error)}` }
        return at !== before?.at
      }
    },
    fault: () => left?.fault,
  }
}
