/** Reads files that another program may be writing at the same time. */

/** A file that changed less than this ago may be incomplete; it is read again after the same time. */
const SETTLE_MS = 100
/** After this time without a change a file is certainly complete. */
export const QUIET_MS = 10_000
/** Most reads of one file. A program that writes for longer is not waited for. */
const READS_MAX = 20

/** `mtimeMs` is taken after the text was read. `fault` says why the file could not be read; the text is then empty. */
export type FileSnapshot = { path: string; text: string; mtimeMs: number; fault?: string }
/** The last snapshot; `settled` unless the file was still changing. */
export type SettledFile = FileSnapshot & { settled: boolean }
export type FileReader = {
  /** @returns undefined when there is no such file */
  read: (path: string) => FileSnapshot | undefined
  now: () => number
  /** Blocks the thread. */
  wait: (ms: number) => void
}

/**
 * Reads files and avoids half-written ones: a file that changed a moment ago is used when two reads find the same text.
 * A file that is renamed into place is complete at once.
 *
 * @returns in the order of `paths`, without the files that are gone
 */
export function readSettled(paths: string[], { read, now, wait }: FileReader): SettledFile[] {
  const found = new Map(paths.map(path => [path, read(path)]))
  const isFresh = (one: FileSnapshot | undefined) => one !== undefined && Math.abs(now() - one.mtimeMs) < SETTLE_MS
  let fresh = paths.filter(path => isFresh(found.get(path)))
  for (let reads = 1; fresh.length > 0 && reads < READS_MAX; reads++) {
    wait(SETTLE_MS)
    fresh = fresh.filter(path => {
      const before = found.get(path)
      const after = read(path)
      found.set(path, after)
      return after?.text !== before?.text
    })
  }
  const changing = new Set(fresh)
  return paths.flatMap(path => {
    const one = found.get(path)
    return one ? [{ ...one, settled: !changing.has(path) }] : []
  })
}
