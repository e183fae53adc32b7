/** JSON files of settings that survive a power cut, and the error for one that cannot be used. */
import type { BigIntStats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import type { Adapter } from 'lowdb'
import { errorText } from '#shared/core/error-text.ts'
import { replaceFileStat } from '#shared/node/files.ts'

/** An error in a settings file. `pointer` is a JSON pointer (RFC 6901). */
export type Complaint = { pointer: string; message: string }

/** Maximum number of complaints in one message. */
const LISTED_MAX = 20

/** A settings file cannot be used. The file is not changed, and the process exits with code 78. */
export class ConfigError extends Error {
  override name = 'ConfigError'
  readonly path: string
  readonly complaints: Complaint[]
  constructor(path: string, complaints: Complaint[]) {
    const listed = complaints.slice(0, LISTED_MAX).map(({ pointer, message }) => `${pointer || '/'}: ${message}`)
    const rest = complaints.length > LISTED_MAX ? [`and ${complaints.length - LISTED_MAX} more`] : []
    super([`${path} cannot be used:`, ...listed, ...rest].join('\n  '))
    this.path = path
    this.complaints = complaints
  }
}

/** Maximum size, bytes. A catalogue of ten thousand points has about 2 MB. */
const FILE_MAX_BYTES = 32 * 1024 * 1024

/** Identifies a file and its content at a path; equal versions have equal content. */
export type FileVersion = string
export const NO_FILE: FileVersion = 'none'

type JsonFile<T> = Adapter<T> & {
  /** The version that was read or written last. */
  knownVersion(): FileVersion
  /** The version at the path now. */
  currentVersion(): Promise<FileVersion>
}

/**
 * lowdb adapter for one JSON file that survives a power cut. The adapters of lowdb never fsync.
 *
 * `read` returns null when there is no file.
 *
 * @throws ConfigError when the file cannot be read as JSON, or would be too large to be read again; the file on disk stays
 */
export function jsonFile<T>(path: string): JsonFile<T> {
  let known: FileVersion = NO_FILE
  return {
    knownVersion: () => known,
    currentVersion: () =>
      stat(path, { bigint: true }).then(versionOf, error => {
        if (error.code === 'ENOENT') return NO_FILE
        throw error
      }),
    async read() {
      known = NO_FILE
      return withFile(path, async file => {
        known = versionOf(await file.stat({ bigint: true }))
        return readJson<T>(path, file)
      })
    },
    async write(value) {
      const bytes = Buffer.from(`${JSON.stringify(value, null, 2)}\n`)
      // A file that cannot be read again would stop the next start.
      if (bytes.length > FILE_MAX_BYTES) throw tooLarge(path, bytes.length)
      known = versionOf(await replaceFileStat(path, bytes))
    },
  }
}

/** Every replacement of the content changes at least one of these fields; a copy may have the same size and modification time. */
const versionOf = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): FileVersion => [ino, size, mtimeNs, ctimeNs].join(':')

/** @returns null when there is no file */
async function withFile<T>(path: string, read: (file: FileHandle) => Promise<T>): Promise<T | null> {
  try {
    await using file = await open(path, 'r')
    return await read(file)
  } catch (error) {
    if (error instanceof ConfigError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new ConfigError(path, [{ pointer: '', message: errorText(error) }])
  }
}

async function readJson<T>(path: string, file: FileHandle): Promise<T> {
  const { size } = await file.stat()
  if (size > FILE_MAX_BYTES) throw tooLarge(path, size)
  // Editors and scripts on Windows begin a file with a byte order mark.
  const value = parse(path, (await file.readFile('utf8')).replace(/^\uFEFF/, ''))
  // null would be taken for a missing file.
  if (value === null) throw new ConfigError(path, [{ pointer: '', message: 'contains only null' }])
  return value as T
}

function parse(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new ConfigError(path, [{ pointer: '', message: `is not valid JSON: ${errorText(error)}` }])
  }
}

const tooLarge = (path: string, size: number): ConfigError =>
  new ConfigError(path, [{ pointer: '', message: `the file has ${size} bytes; at most ${FILE_MAX_BYTES} are allowed` }])
