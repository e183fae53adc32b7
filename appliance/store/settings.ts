import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Low } from 'lowdb'
import { type Complaint, ConfigError } from './config-error.ts'
import { durableJson, type Stamp } from './durable-json.ts'

/** One checked settings file. */
export type Settings<T> = {
  readonly path: string
  /** What the file holds. Not to be changed in place. */
  current(): T
  /** @throws ConfigError when the file could not hold this */
  check(next: T): void
  /** Checks, then replaces the file. Durable when resolved. @throws ConfigError; file and memory then stay as they were */
  replace(next: T): Promise<void>
  /** What stands at the path now, when that is not what was read or written last. */
  foreign(): Promise<Stamp | undefined>
  /** Reads the file again. @throws ConfigError when it is missing or wrong; memory then stays as it was */
  reread(): Promise<T>
}

/**
 * Opens a settings file.
 *
 * @param check complaints beyond the schema; called only with what fits the schema
 * @param absent what a missing file stands for; undefined when there must be one
 * @throws ConfigError naming the path and, for each complaint, the JSON pointer
 */
export async function openSettings<S extends TSchema>(
  path: string,
  schema: S,
  check: (value: Static<S>) => Complaint[],
  absent?: Static<S>,
): Promise<Settings<Static<S>>> {
  const verify = (value: unknown): Static<S> => {
    const complaints = Value.Check(schema, value) ? check(value) : schemaComplaints(schema, value)
    if (complaints.length) throw new ConfigError(path, complaints)
    return value as Static<S>
  }
  const file = durableJson<Static<S>>(path)
  const missing = () => new ConfigError(path, [{ pointer: '', message: 'there is no such file' }])
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
    async foreign() {
      const stamp = await file.stamp()
      return stamp === file.seen() ? undefined : stamp
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
