/** A change of deployed rules that is decided but not in place yet. It applies as a whole from the moment of the decision. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Prefix of the name of the folder with the new files of such a change. */
export const DECIDED = '.decided-'
/** The file in that folder that lists the removed files. */
export const REMOVALS = 'removals.json'

/** `put`: where a new file is, by its later path. `gone`: paths of removed files. */
type DecidedChanges = { put: Map<string, string>; gone: Set<string> }

/** @returns empty collections where there is no such change, which is the usual case */
export function decidedChanges(dir: string): DecidedChanges {
  const put = new Map<string, string>()
  const gone = new Set<string>()
  for (const change of namesIn(dir).filter(name => name.startsWith(DECIDED))) {
    for (const name of removalsOf(join(dir, change))) gone.add(join(dir, name))
    for (const name of namesIn(join(dir, change))) if (/\.ya?ml$/.test(name)) put.set(join(dir, name), join(dir, change, name))
  }
  return { put, gone }
}

/** A folder that does not exist, or is just being moved, has no names. */
const namesIn = (dir: string): string[] => unlessGone(() => readdirSync(dir)) ?? []

export const removalsOf = (change: string): string[] => {
  const text = unlessGone(() => readFileSync(join(change, REMOVALS), 'utf8'))
  return text === undefined ? [] : (JSON.parse(text) as string[])
}

/** Returns undefined for a file that is deleted meanwhile; other errors are thrown. */
export function unlessGone<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
