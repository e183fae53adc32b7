import type { BigIntStats } from 'node:fs'
import { type FileHandle, open, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Adapter } from 'lowdb'
import { ConfigError } from './config-error.ts'

/** A catalogue of ten thousand points takes about 2 MB. */
const FILE_MAX_BYTES = 32 * 1024 * 1024

/** Which file stands at a path, and in which version; `none` when there is none. Two that are equal hold the same. */
export type Stamp = string
export const NONE: Stamp = 'none'

export type DurableJson<T> = Adapter<T> & {
  /** Of what was read or written last. */
  seen(): Stamp
  /** Of what stands there now. */
  stamp(): Promise<Stamp>
}

/**
 * lowdb adapter for one JSON file that survives a power cut: temporary file, fsync, rename, fsync of the folder. lowdb's
 * own adapters never fsync.
 *
 * `read` gives null when there is no file.
 *
 * @throws ConfigError when the file is there and cannot be read as JSON, or would be too large to be read again; what
 * stands there stays
 */
export function durableJson<T>(path: string): DurableJson<T> {
  let seen: Stamp = NONE
  return {
    seen: () => seen,
    stamp: () =>
      stat(path, { bigint: true }).then(stampOf, error => {
        if (error.code === 'ENOENT') return NONE
        throw error
      }),
    async read() {
      seen = NONE
      return withFile(path, async file => {
        seen = stampOf(await file.stat({ bigint: true }))
        return readJson<T>(path, file)
      })
    },
    async write(value) {
      const bytes = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
      // What could not be read again would stop the next start.
      if (bytes.length > FILE_MAX_BYTES) throw tooLarge(path, bytes.length)
      const temporary = `${path}.tmp`
      await using file = await open(temporary, 'w', 0o640)
      await file.writeFile(bytes)
      await file.sync()
      await rename(temporary, path)
      // Of this very file: what somebody else has put in its place meanwhile is another.
      seen = stampOf(await file.stat({ bigint: true }))
      await syncFolder(dirname(path))
    },
  }
}

/** Nothing that puts other bytes under the name leaves all of it as it was; a copy may keep size and time of writing. */
const stampOf = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): Stamp => [ino, size, mtimeNs, ctimeNs].join(':')

/** @returns null when there is no file */
async function withFile<T>(path: string, read: (file: FileHandle) => Promise<T>): Promise<T | null> {
  try {
    await using file = await open(path, 'r')
    return await read(file)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new ConfigError(path, [{ pointer: '', message: (error as Error).message }])
  }
}

async function readJson<T>(path: string, file: FileHandle): Promise<T> {
  const { size } = await file.stat()
  if (size > FILE_MAX_BYTES) throw tooLarge(path, size)
  // Editors and scripts of Windows begin a file with a byte order mark.
  const text = (await file.readFile('utf8')).replace(/^\uFEFF/, '')
  const value = parse(path, text)
  // It would pass for a file that is not there.
  if (value === null) throw new ConfigError(path, [{ pointer: '', message: 'holds nothing but null' }])
  return value as T
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ConfigError(path, [{ pointer: '', message: `is no JSON: ${(error as Error).message}` }])
  }
}

const tooLarge = (path: string, size: number): ConfigError =>
  new ConfigError(path, [{ pointer: '', message: `the file has ${size} bytes, and ${FILE_MAX_BYTES} are the most` }])

/** Makes a rename in the folder last. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r')
  await folder.sync()
}
