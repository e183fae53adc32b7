/** Imports whose preview is open. They are in memory: a restart drops them. */
import { Problem } from '#shared/core/problem.ts'
import { MINUTE } from '#shared/core/time.ts'
import type { ImportSource } from '../services/point-import.ts'
import type { ImportPlan } from '../store/catalogue-import.ts'

export type PendingImport = {
  source: ImportSource
  /** Addresses that the user has entered, by device instance. */
  typed: ReadonlyMap<string, string>
  /** Why the last attempt to apply it failed. */
  fault: string | undefined
  /** The plan that was applied; undefined before that. */
  done: ImportPlan | undefined
}

/** Maximum number of pending imports: a table of ten thousand points takes some 10 MB. */
const PENDING_MAX = 4
const PENDING_MS = 60 * MINUTE

export class PendingImports {
  readonly #now: () => number
  readonly #imports = new Map<string, PendingImport & { at: number }>()

  constructor(now: () => number) {
    this.#now = now
  }

  /** Adds an import; the oldest is dropped when there are too many. */
  add(session_id: string, source: ImportSource): void {
    const excess = Math.max(0, this.#imports.size - PENDING_MAX + 1)
    for (const oldest of [...this.#imports.keys()].slice(0, excess)) this.#imports.delete(oldest)
    this.#imports.set(session_id, { source, typed: new Map(), fault: undefined, done: undefined, at: this.#now() })
  }

  /** @throws Problem unknown_session */
  get(session_id: string): PendingImport {
    const pending = this.#imports.get(session_id)
    if (!pending || this.#now() - pending.at > PENDING_MS) {
      throw new Problem(
        'unknown_session',
        'The preview has expired, after an hour or because of newer imports; choose the file again',
      )
    }
    return pending
  }
}
