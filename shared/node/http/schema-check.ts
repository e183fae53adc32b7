import { type Static, type TSchema, TypeRegistry } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { DataError } from '#shared/core/problem.ts'

/** `oneOf` of route.ts makes the only schemas of this kind. */
TypeRegistry.Set<{ enum: unknown[] }>('Unsafe', (schema, value) => schema.enum.includes(value))

/** @returns whether `value` matches `schema` */
export const fits = <S extends TSchema>(schema: S, value: unknown): value is Static<S> => Value.Check(schema, value)

/** @returns the errors of `value`, one for each place; empty when it matches */
export function schemaErrors(schema: TSchema, value: unknown): DataError[] {
  const found = new Map<string, DataError>()
  for (const { path, message, schema: at } of Value.Errors(schema, value)) {
    const words: unknown[] | undefined = at['enum']
    if (!found.has(path)) found.set(path, { pointer: path, message: words ? `is none of ${words.join(', ')}` : message })
  }
  return [...found.values()]
}
