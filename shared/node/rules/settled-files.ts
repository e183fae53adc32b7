/** What is read while somebody may be writing it. */

/** A file that was written so short a time ago may be written still: it is looked at again after as long. */
const SETTLE_MS = 100
/** How long a file is left alone before it is certain that nobody rests in the middle of writing it. */
export const QUIET_MS = 10_000
/** Looks at one file; who writes longer than that is not waited for. */
const LOOKS_MAX = 20

/** `mtimeMs` as it was once the text was read; `fault`: why it could not be read, and then there is no text. */
export type Look = { path: string; text: string; mtimeMs: number; fault?: string }
/** What was read last; `settled` unless it still changed then. */
export type Reading = Look & { settled: boolean }
/** How files are looked at. */
export type Looking = {
  /** Undefined when there is no such file. */
  look: (path: string) => Look | undefined
  now: () => number
  /** Blocks. */
  wait: (ms: number) => void
}

/**
 * Reads files so that none is half of what somebody is just writing into it: what changed a moment ago counts when two
 * looks find the same. What is renamed into place is whole at once.
 *
 * @returns in the order of `paths`, without those that are gone
 */
export function readSettled(paths: string[], { look, now, wait }: Looking): Reading[] {
  const found = new Map(paths.map(path => [path, look(path)]))
  const isFresh = (one: Look | undefined) => one !== undefined && Math.abs(now() - one.mtimeMs) < SETTLE_MS
  let fresh = paths.filter(path => isFresh(found.get(path)))
  for (let looks = 1; fresh.length > 0 && looks < LOOKS_MAX; looks++) {
    wait(SETTLE_MS)
    fresh = fresh.filter(path => {
      const before = found.get(path)
      const after = look(path)
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
