/** Converts between records, where an optional field is absent, and rows, where it is NULL. */
import { Problem } from '#shared/core/problem.ts'

/** @returns the row without NULLs, with the named columns parsed from JSON */
export function toRecord<T>(row: unknown, json: readonly string[] = []): T {
  const record: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(row as Record<string, unknown>)) {
    if (value !== null) record[name] = json.includes(name) ? JSON.parse(String(value)) : value
  }
  return record as T
}

/** @returns a value for every column: NULL for an absent field, JSON text for a list or an object */
export function toRow<T extends object>(record: T, columns: readonly (keyof T & string)[]): Record<string, unknown> {
  return Object.fromEntries(columns.map(name => [name, toColumn(record[name])]))
}

function toColumn(value: unknown): unknown {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return value ? 1 : 0
  return typeof value === 'object' ? JSON.stringify(value) : value
}

/** A statement that inserts a row of `columns`, or updates it where `key` exists. */
export function upsert(table: string, key: readonly string[], columns: readonly string[]): string {
  const set = columns.filter(name => !key.includes(name)).map(name => `"${name}" = excluded."${name}"`)
  return `INSERT INTO ${table} (${columns.map(name => `"${name}"`).join(', ')}) VALUES (${columns.map(name => `@${name}`).join(', ')})
    ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${set.join(', ')}`
}

/**
 * Position at which a list continues: the start of the record `id`, read again because it may have changed. @throws Problem
 * bad_cursor
 */
export function continueAfter(
  start: { get(id: string): unknown },
  id: string | undefined,
): { start: unknown; after: string | null } {
  const begun = id === undefined ? null : start.get(id)
  if (begun === undefined) throw new Problem('bad_cursor', `${id} no longer exists: read the list from its beginning`)
  return { start: begun, after: id ?? null }
}
