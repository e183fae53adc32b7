import { open, readFile, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Adapter } from 'lowdb'
import { ConfigError } from './config-error.ts'

/** A catalogue of ten thousand points takes about 2 MB. */
const FILE_MAX_BYTES = 32 * 1024 * 1024

/**
 * lowdb adapter for one JSON file that survives a power cut: temporary file, fsync, rename, fsync of the folder. lowdb's
 * own adapters never fsync.
 *
 * `read` gives null when there is no file.
 *
 * @throws ConfigError when the file is there and cannot be read as JSON; it is never overwritten by reading
 */
export function durableJson<T>(path: string): Adapter<T> {
  return {
    read: () => readJson<T>(path),
    async write(value) {
      const temporary = `${path}.tmp`
      await using file = await open(temporary, 'w', 0o640)
      await file.writeFile(`${JSON.stringify(value, null, 2)}\n`)
      await file.sync()
      await rename(temporary, path)
      await syncFolder(dirname(path))
    },
  }
}

async function readJson<T>(path: string): Promise<T | null> {
  const refuse = (message: string) => new ConfigError(path, [{ pointer: '', message }])
  let text: string
  try {
    const { size } = await stat(path)
    if (size > FILE_MAX_BYTES) throw refuse(`the file has ${size} bytes, more than ${FILE_MAX_BYTES}`)
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof ConfigError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw refuse((error as Error).message)
  }
  try {
    return JSON.parse(text) as T
  } catch (error) {
    throw refuse(`is no JSON: ${(error as Error).message}`)
  }
}

/** Makes a rename in the folder last. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r')
  await folder.sync()
}
