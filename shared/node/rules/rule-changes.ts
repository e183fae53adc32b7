/** A change of deployed rules that is decided and not in place yet: it counts as a whole from the moment it is decided. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Begins the name of a folder that holds what such a change puts. */
export const DECIDED = '.decided-'
/** The file therein that lists what it removes. */
export const REMOVALS = 'removals.json'

/** `put`: where a new file lies, by the path that it will have. `gone`: paths of files that no longer count. */
type DecidedChanges = { put: Map<string, string>; gone: Set<string> }

/** @returns nothing where there is no such change, which is nearly always */
export function decidedChanges(dir: string): DecidedChanges {
  const put = new Map<string, string>()
  const gone = new Set<string>()
  for (const change of namesIn(dir).filter(name => name.startsWith(DECIDED))) {
    for (const name of removalsOf(join(dir, change))) gone.add(join(dir, name))
    for (const name of namesIn(join(dir, change))) if (/\.ya?ml$/.test(name)) put.set(join(dir, name), join(dir, change, name))
  }
  return { put, gone }
}

/** What is not there, or moves into place just now, holds nothing. */
const namesIn = (dir: string): string[] => unlessGone(() => readdirSync(dir)) ?? []

export const removalsOf = (change: string): string[] => {
  const text = unlessGone(() => readFileSync(join(change, REMOVALS), 'utf8'))
  return text === undefined ? [] : (JSON.parse(text) as string[])
}

/** A file that someone deletes while we look is not there; any other failure is the caller's to hear of. */
export function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
