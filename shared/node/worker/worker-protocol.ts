/** Messages between a process and its worker. Typed arrays are transferred as such. */
import { type DataError, Problem, type ProblemCode } from '#shared/core/problem.ts'

export type ToWorker =
  | { kind: 'init'; init: unknown }
  | { kind: 'request'; id: number; method: string; input: unknown }
  | { kind: 'cancel'; id: number }
export type FromWorker =
  | { kind: 'progress'; id: number; value: unknown }
  | { kind: 'result'; id: number; value: unknown }
  | { kind: 'error'; id: number; error: WireError }

/** The fields of an error: a class cannot be transferred. */
type WireError = { message: string; stack?: string | undefined; code?: ProblemCode; errors?: DataError[] }

export function toWire(error: unknown): WireError {
  if (error instanceof Problem) return { message: error.message, code: error.code, errors: error.errors }
  return error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) }
}

export function fromWire({ message, stack, code, errors }: WireError): Error {
  if (code) return new Problem(code, message, errors)
  const error = new Error(message)
  if (stack) error.stack = stack
  return error
}
