import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Low } from 'lowdb'
import { type Complaint, ConfigError, jsonFile, type FileVersion } from './json-file.ts'

/** A settings file whose content is checked. */
export type SettingsFile<T> = {
  readonly path: string
  /** The content. It must not be changed in place. */
  current(): T
  /** @throws ConfigError when this would not be valid content */
  check(next: T): void
  /** Checks, then replaces the file. Durable when resolved. @throws ConfigError; file and memory then stay as they were */
  replace(next: T): Promise<void>
  /** The version at the path now, when another process has changed the file since it was read or written here. */
  foreignVersion(): Promise<FileVersion | undefined>
  /** Reads the file again. @throws ConfigError when it is missing or wrong; memory then stays as it was */
  reread(): Promise<T>
}

/**
 * Opens a settings file.
 *
 * @param check complaints beyond the schema; called only with values that match the schema
 * @param absent the content of a missing file; a file without it is required
 * @param example content that a required file may have, for the message of a missing one
 * @throws ConfigError naming the path and, for each complaint, the JSON pointer
 */
export async function openSettingsFile<S extends TSchema>(
  path: string,
  schema: S,
  check: (value: Static<S>) => Complaint[],
  { absent, example }: { absent?: Static<S>; example?: Static<S> },
): Promise<SettingsFile<Static<S>>> {
  const verify = (value: unknown): Static<S> => {
    const complaints = Value.Check(schema, value) ? check(value) : schemaComplaints(schema, value)
    if (complaints.length) throw new ConfigError(path, complaints)
    return value as Static<S>
  }
  const file = jsonFile<Static<S>>(path)
  const hint = example === undefined ? '' : `; write one, for example ${JSON.stringify(example)}`
  const missing = () => new ConfigError(path, [{ pointer: '', message: `there is no such file${hint}` }])
  const found = (await file.read()) ?? absent
  if (found === undefined) throw missing()
  const db = new Low<Static<S>>(file, verify(found))
  return {
    path,
    current: () => db.data,
    check: next => void verify(next),
    async replace(next) {
      const before = db.data
      db.data = verify(next)
      try {
        await db.write()
      } catch (error) {
        db.data = before
        throw error
      }
    },
    async foreignVersion() {
      const version = await file.currentVersion()
      return version === file.knownVersion() ? undefined : version
    },
    async reread() {
      const read = await file.read()
      if (read === null) throw missing()
      db.data = verify(read)
      return db.data
    },
  }
}

function schemaComplaints(schema: TSchema, value: unknown): Complaint[] {
  const complaints = Array.from(Value.Errors(schema, value), ({ path, message }) => ({ pointer: path, message }))
  return complaints.filter(({ pointer }, i) => complaints.findIndex(other => other.pointer === pointer) === i)
}
