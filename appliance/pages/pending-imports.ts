/** Imports whose preview is open. They are in memory: a restart drops them. */
import { Problem } from '#shared/core/problem.ts'
import { MINUTE } from '#shared/core/time.ts'
import type { ImportSource } from '../services/point-import.ts'
import type { ImportPlan } from '../store/catalogue-import.ts'

export type ShelvedImport = {
  source: ImportSource
  /** Addresses as they were typed, by device instance. */
  typed: ReadonlyMap<string, string>
  /** Why it could not be carried out. */
  fault: string | undefined
  /** What was done, once it is. */
  done: ImportPlan | undefined
}

/** A table of ten thousand points takes some 10 MB. */
const KEPT_MAX = 4
const KEPT_MS = 60 * MINUTE

export function importShelf(now: () => number) {
  const shelf = new Map<string, ShelvedImport & { at: number }>()
  return {
    /** The oldest makes way. */
    put(session_id: string, source: ImportSource): void {
      for (const oldest of [...shelf.keys()].slice(0, Math.max(0, shelf.size - KEPT_MAX + 1))) shelf.delete(oldest)
      shelf.set(session_id, { source, typed: new Map(), fault: undefined, done: undefined, at: now() })
    },
    /** @throws Problem unknown_session */
    get(session_id: string): ShelvedImport {
      const shelved = shelf.get(session_id)
      if (!shelved || now() - shelved.at > KEPT_MS) {
        throw new Problem(
          'unknown_session',
          'The preview is gone: it was kept for an hour, or until others came. Choose the file again',
        )
      }
      return shelved
    },
  }
}
