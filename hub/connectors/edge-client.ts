/** The port through which the hub sends a request to an edge, and the check of the edge's response. */
import type { EdgeRecord } from '#shared/core/stores.ts'
import type { Static, TSchema } from '@sinclair/typebox'
import { type AnswerOf, OPERATIONS, type Operation } from '#shared/core/connector/edge-operations.ts'
import { type DataError, Problem, type ProblemCode } from '#shared/core/problem.ts'
import { fits, schemaErrors } from '#shared/node/http/schema-check.ts'

export type EdgeReply = { status: number; body: unknown }
/** @throws Problem edge_unreachable, edge_failed or edge_timeout */
export type EdgeClient = (edge: EdgeRecord, operation: Operation, request: object) => Promise<EdgeReply>

/** Problem codes of an edge that the caller can act on; they are forwarded. Any other failure becomes `edge_failed`. */
const FORWARDED_CODES = [
  'bad_request',
  'bad_cursor',
  'cursor_expired',
  'history_damaged',
  'unknown_device',
  'unknown_visit',
  'visit_in_progress',
  'scanner_disabled',
] as const satisfies ProblemCode[]

/** @throws Problem as `checkReply` does */
export const readEdgeReply = <O extends Operation>(edge_id: string, operation: O, reply: EdgeReply): AnswerOf<O> =>
  checkReply<TSchema>(edge_id, OPERATIONS[operation], reply) as AnswerOf<O>

/** @throws Problem with a forwarded code of the edge, or edge_failed when the response does not match the contract */
export function checkReply<A extends TSchema>(
  edge_id: string,
  { answer, status: expected }: { answer: A; status: number },
  { status, body }: EdgeReply,
): Static<A> {
  if (status === expected && fits(answer, body)) return body as Static<A>
  if (status === expected) {
    const [first] = schemaErrors(answer, body)
    throw new Problem(
      'edge_failed',
      `The response of ${edge_id} does not match the schema: ${first?.pointer || 'it'} ${first?.message}`,
    )
  }
  const { code, detail, errors } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  const known = FORWARDED_CODES.find(each => each === code)
  const reason = typeof detail === 'string' ? detail.slice(0, 1000) : 'no reason given'
  if (known) throw new Problem(known, reason, errorsOf(errors))
  if (code === 'not_found')
    throw new Problem('edge_failed', `${edge_id} does not know this request: its version is older, or it is no whole appliance`)
  throw new Problem('edge_failed', `${edge_id} answered with ${status}: ${reason}`)
}

/** The well-formed entries of an edge's `errors` list. */
function errorsOf(errors: unknown): DataError[] {
  if (!Array.isArray(errors)) return []
  return errors.slice(0, 100).flatMap((error: unknown) => {
    const { pointer, message } = (error ?? {}) as Record<string, unknown>
    return typeof pointer === 'string' && typeof message === 'string' ? [{ pointer, message }] : []
  })
}
