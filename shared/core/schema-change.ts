/** Whether a version of the program that knows the tables before a change can go on using those after it. */

/** A row of `sqlite_schema`. */
export type SchemaObject = { type: string; name: string; tbl_name: string; sql: string | null }

const keyOf = ({ type, name }: SchemaObject) => `${type} ${name}`

/**
 * A change that only adds tables, views, columns with a default, and indexes and triggers that refuse nothing. A change that is of
 * another kind only in what stored rows mean cannot be seen here.
 */
export function isAdditive(before: readonly SchemaObject[], after: readonly SchemaObject[]): boolean {
  const now = new Map(after.map(object => [keyOf(object), object]))
  const was = new Set(before.map(keyOf))
  const tables = new Set(before.filter(({ type }) => type === 'table').map(({ name }) => name))
  return (
    before.every(object => isKept(object, now.get(keyOf(object)))) &&
    after.every(object => was.has(keyOf(object)) || !tables.has(object.tbl_name) || refusesNothing(object))
  )
}

const isKept = (before: SchemaObject, after: SchemaObject | undefined): boolean =>
  after !== undefined &&
  (before.sql === after.sql || (before.type === 'table' && hasOnlyMoreColumns(before.sql ?? '', after.sql ?? '')))

/** SQLite writes an added column before the last bracket of the table. */
function hasOnlyMoreColumns(before: string, after: string): boolean {
  const end = before.lastIndexOf(')')
  const [columns, rest] = [before.slice(0, end).trimEnd(), before.slice(end)]
  if (!after.startsWith(columns) || !after.endsWith(rest)) return false
  const added = after.slice(columns.length, after.length - rest.length).trim()
  const count = (words: RegExp) => added.match(words)?.length ?? 0
  return added.startsWith(',') && count(/\bNOT\s+NULL\b/gi) <= count(/\bDEFAULT\b/gi) && count(/\b(?:UNIQUE|PRIMARY)\b/gi) === 0
}

/** Of an index or trigger that is new on a table which was there. */
const refusesNothing = ({ type, sql }: SchemaObject): boolean =>
  type === 'index' ? !/^CREATE\s+UNIQUE\b/i.test(sql ?? '') : type === 'trigger' && !/\bRAISE\s*\(/i.test(sql ?? '')
