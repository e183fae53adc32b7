import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Logger } from 'pino'
import { Problem } from '#shared/core/problem.ts'
import { failureLog } from '#shared/node/failure-log.ts'
import { type DocumentIndex, readIndex } from './document-index.ts'

/** Where `scripts/index-documents` writes the index: beside the program, as the file VERSION of an image. */
export const SHIPPED_INDEX = fileURLToPath(new URL('../../../documents.db', import.meta.url))
/** Largest file that is read into memory; the index of the product has about 2 MB. */
const BYTES_MAX = 64 * 1024 * 1024

export type IndexFile = {
  /**
   * The index as its file is now. A replaced file is read again, so that an update needs no restart.
   *
   * @throws Problem index_unavailable when there is no file, or none that can be used
   */
  current(): DocumentIndex
  /** @returns undefined where `current` would throw */
  find(): DocumentIndex | undefined
}

export function openIndexFile(path: string, log: Logger): IndexFile {
  const failures = failureLog(
    log,
    `the index of documents ${path} cannot be used, so nothing is found`,
    'the index of documents is read',
  )
  let stamp: string | undefined
  let loaded: DocumentIndex | Error | undefined
  const load = (): DocumentIndex | Error => {
    const now = stampOf(path)
    if (loaded && now === stamp) return loaded
    stamp = now
    try {
      loaded = readIndex(readBounded(path))
      failures.worked()
    } catch (error) {
      failures.failed(error)
      loaded = error as Error
    }
    return loaded
  }
  return {
    current() {
      const now = load()
      if (now instanceof Error) throw new Problem('index_unavailable', detailOf(now))
      return now
    },
    find() {
      const now = load()
      return now instanceof Error ? undefined : now
    },
  }
}

/** Changes when the file is replaced or written to. */
function stampOf(path: string): string | undefined {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat && `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs}`
}

function readBounded(path: string): Buffer {
  const { size } = statSync(path)
  if (size > BYTES_MAX) throw new Error(`it has ${size} bytes; at most ${BYTES_MAX} are read`)
  return readFileSync(path)
}

/** The path stays in the log. */
const detailOf = (error: Error): string =>
  (error as NodeJS.ErrnoException).code === 'ENOENT'
    ? 'There is no index of documents: scripts/index-documents makes it'
    : 'The index of documents is damaged or of another version: scripts/index-documents makes it anew'
