import { setTimeout } from 'node:timers/promises'
import { errorText } from '#shared/core/error-text.ts'
import { lockFolder } from '../folder-lock.ts'

/** How long a change waits while another process changes the same authority; a change takes some 50 ms. */
const WAIT_MS = 10_000
const RETRY_MS = 50

/** Another process has changed the authority for too long. */
export class PkiBusy extends Error {
  override name = 'PkiBusy'
}

/**
 * Carries out one change of an authority while no other process changes it: a hub and a script may use the same folder, and
 * the list of issued certificates is one file.
 *
 * @throws PkiBusy after ten seconds
 */
export async function withPkiLock<T>(dir: string, change: () => Promise<T>): Promise<T> {
  const unlock = await lock(dir)
  try {
    return await change()
  } finally {
    unlock()
  }
}

async function lock(dir: string): Promise<() => void> {
  for (const end = performance.now() + WAIT_MS; ; await setTimeout(RETRY_MS)) {
    try {
      return lockFolder('the authority', dir)
    } catch (error) {
      const text = errorText(error)
      if (!text.endsWith('is in use by another process')) throw error
      if (performance.now() > end) throw new PkiBusy(text)
    }
  }
}
