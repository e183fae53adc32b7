/** Files that survive a power cut. */
import { type BigIntStats, closeSync, existsSync, fsyncSync, openSync, statSync } from 'node:fs'
import { chmod, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises'
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
  await using file = await writeTemporary({ path, content, mode })
  await rename(temporaryOf(path), path)
  syncFolder(dirname(path))
  // Behind the rename, which changes them too.
  return file.stat({ bigint: true })
}

type NewFile = { path: string; content: string | Buffer; mode: number | undefined }

/**
 * Replaces files that belong together: none is replaced before all are written, so a full disk leaves the old ones. A power cut
 * may leave some old and some new.
 */
export async function replaceFiles(files: readonly NewFile[]): Promise<void> {
  try {
    for (const file of files) await (await writeTemporary(file)).close()
  } catch (error) {
    for (const { path } of files) await rm(temporaryOf(path), { force: true })
    throw error
  }
  for (const { path } of files) await rename(temporaryOf(path), path)
  for (const folder of new Set(files.map(({ path }) => dirname(path)))) syncFolder(folder)
}

const temporaryOf = (path: string): string => `${path}.tmp`

/** @returns the written file, open. @throws when it cannot be written whole; nothing is left of it then */
async function writeTemporary({ path, content, mode }: NewFile): Promise<FileHandle> {
  const temporary = temporaryOf(path)
  await rm(temporary, { force: true })
  const file = await open(temporary, 'wx', mode ?? 0o644)
  try {
    if (mode !== undefined) await file.chmod(mode)
    await file.writeFile(content)
    await file.sync()
    return file
  } catch (error) {
    await file.close()
    await rm(temporary, { force: true })
    throw error
  }
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
