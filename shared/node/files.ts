/** Files that survive a power cut. */
import { type BigIntStats, closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs'
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

/** Makes created, renamed and unlinked entries of a folder durable. */
export function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** @returns undefined where the file or folder that is read does not exist */
export const unlessMissing = <T>(reading: Promise<T>): Promise<T | undefined> =>
  reading.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** As `replaceFileStat`, without the stats. */
export async function replaceFile(path: string, content: string | Buffer, mode?: number): Promise<void> {
  await replaceFileStat(path, content, mode)
}

/**
 * Replaces a file atomically: a reader sees the old content or the new, also after a power cut.
 *
 * @param mode permissions regardless of the umask, for example 0o600 for a key; without them the umask decides
 * @returns the stats of the written file, also when another process has replaced it since
 */
export async function replaceFileStat(path: string, content: string | Buffer, mode?: number): Promise<BigIntStats> {
  const temporary = `${path}.tmp`
  await rm(temporary, { force: true })
  await using file = await open(temporary, 'wx', mode ?? 0o644)
  if (mode !== undefined) await file.chmod(mode)
  await file.writeFile(content)
  await file.sync()
  await rename(temporary, path)
  syncFolder(dirname(path))
  return file.stat({ bigint: true })
}

/**
 * Creates a folder and the missing folders above it, durably. They are created one by one, because the recursive `mkdir` of
 * Node never ends where the kernel reports an existing folder as missing (below /proc).
 *
 * @param mode permissions of the created folders, regardless of the umask; without them the umask decides
 * @throws Error that names the path, also when a file is in its place
 */
export async function makeFolder(folder: string, mode?: number): Promise<void> {
  const missing: string[] = []
  let at = resolve(folder)
  for (; !existsSync(at); at = dirname(at)) missing.unshift(at)
  if (!statSync(at).isDirectory()) throw new Error(`${at} is not a folder`)
  for (const path of missing) {
    await mkdir(path, { mode: mode ?? 0o755 }).then(
      () => (mode === undefined ? undefined : chmod(path, mode)),
      error => {
        if (error.code !== 'EEXIST') throw error
      },
    )
    syncFolder(dirname(path))
  }
}
