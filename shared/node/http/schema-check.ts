import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { DataError } from '#shared/core/problem.ts'

/** @returns whether `value` matches `schema` */
export const fits = <S extends TSchema>(schema: S, value: unknown): value is Static<S> => Value.Check(schema, value)

/** @returns the errors of `value`, one for each place; empty when it matches */
export function schemaErrors(schema: TSchema, value: unknown): DataError[] {
  const found = new Map<string, DataError>()
  for (const { path, message } of Value.Errors(schema, value)) if (!found.has(path)) found.set(path, { pointer: path, message })
  return [...found.values()]
}
