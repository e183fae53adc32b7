import { existsSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** The file whose presence asks for a run: anyone who may write to the workspace may ask. */
export type Trigger = {
  ask(): Promise<void>
  isAsked(): boolean
  /** @returns whether it was there; it is gone then */
  take(): Promise<boolean>
}

export function openTrigger(workspace: string): Trigger {
  const path = join(workspace, 'config', '.run_fdd_now')
  return {
    async ask() {
      await mkdir(dirname(path), { recursive: true })
      await writeFile(path, '')
    },
    isAsked: () => existsSync(path),
    async take() {
      if (!existsSync(path)) return false
      await rm(path, { force: true })
      return true
    },
  }
}
